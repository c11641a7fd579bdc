import SigningKit

/// A KMS key as DescribeKey and CreateKey describe it (AWS KMS API Reference, "KeyMetadata"). Members that older
/// regions omit are optional.
struct KMSKeyMetadata: Decodable, Sendable {
    let arn: String
    let keyID: String
    let keyState: String
    let keySpec: String?
    let keyUsage: String?
    let origin: String?
    let keyManager: String?
    let description: String?
    let isMultiRegion: Bool?
    let multiRegion: MultiRegion?
    let customKeyStoreID: String?
    let expirationModel: String?
    /// Seconds since 1970.
    let creationDate, deletionDate, validTo: Double?

    struct MultiRegion: Decodable, Sendable {
        let type: String?
        let replicas: [Place]?

        struct Place: Decodable, Sendable {
            let region: String?

            private enum CodingKeys: String, CodingKey { case region = "Region" }
        }

        private enum CodingKeys: String, CodingKey {
            case type = "MultiRegionKeyType"
            case replicas = "ReplicaKeys"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case arn = "Arn"
        case keyID = "KeyId"
        case keyState = "KeyState"
        case keySpec = "KeySpec"
        case keyUsage = "KeyUsage"
        case origin = "Origin"
        case keyManager = "KeyManager"
        case description = "Description"
        case isMultiRegion = "MultiRegion"
        case multiRegion = "MultiRegionConfiguration"
        case customKeyStoreID = "CustomKeyStoreId"
        case expirationModel = "ExpirationModel"
        case creationDate = "CreationDate"
        case deletionDate = "DeletionDate"
        case validTo = "ValidTo"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        arn = try members.decode(String.self, forKey: .arn)
        keyID = try members.decode(String.self, forKey: .keyID)
        keyState = try members.decode(String.self, forKey: .keyState)
        keySpec = try members.decodeOrNull(.keySpec)
        keyUsage = try members.decodeOrNull(.keyUsage)
        origin = try members.decodeOrNull(.origin)
        keyManager = try members.decodeOrNull(.keyManager)
        description = try members.decodeOrNull(.description)
        isMultiRegion = try members.decodeOrNull(.isMultiRegion)
        multiRegion = try members.decodeOrNull(.multiRegion)
        customKeyStoreID = try members.decodeOrNull(.customKeyStoreID)
        expirationModel = try members.decodeOrNull(.expirationModel)
        creationDate = try members.decodeOrNull(.creationDate)
        deletionDate = try members.decodeOrNull(.deletionDate)
        validTo = try members.decodeOrNull(.validTo)
    }

    /// Whether the private key exists in KMS, so that it signs now or after a change of the key's state.
    var hasMaterial: Bool { keyState != "PendingImport" && !isScheduledForDeletion }

    var isScheduledForDeletion: Bool { keyState == "PendingDeletion" || keyState == "PendingReplicaDeletion" }

    /// Whether the key is for signatures with ECDSA on P-256.
    var signsWithP256: Bool { keySpec == Self.spec && keyUsage == Self.usage }

    static let spec = "ECC_NIST_P256"
    static let usage = "SIGN_VERIFY"

    /// RFC 3339, in UTC; nil without the time, or for one outside the years 0 to 9999.
    static func text(_ seconds: Double?) -> String? {
        guard let seconds, (0..<253_402_300_799).contains(seconds) else { return nil }
        return Timestamp(milliseconds: Int64(seconds * 1000)).text
    }

    /// Throws unless the key can sign as this gateway needs it.
    ///
    /// - Parameter name: the key's name in the configuration, for messages.
    func requireFit(_ name: String) throws(KeyError) {
        guard keySpec == Self.spec else {
            throw .unfit(
                "The KMS key \(name) has the key spec \(AWSText.excerpt(keySpec ?? "unknown")); App Store keys are "
                    + "\(Self.spec).")
        }
        guard keyUsage == Self.usage else {
            throw .unfit(
                "The KMS key \(name) has the key usage \(AWSText.excerpt(keyUsage ?? "unknown")); only \(Self.usage) can "
                    + "sign.")
        }
        guard !isScheduledForDeletion else {
            throw .unfit(
                "The KMS key \(name) is scheduled for deletion\(Self.text(deletionDate).map { " at \($0)" } ?? "") "
                    + "(\(keyState)). Cancel that (aws kms cancel-key-deletion), or use another key.")
        }
        switch keyState {
        case "Enabled": return
        case "Disabled":
            throw .unavailable("The KMS key \(name) is disabled. Enable it: aws kms enable-key.")
        case "PendingImport":
            throw .notFound(
                "The KMS key \(name) has no key material yet (PendingImport). Import it: privyseal keys import.")
        default:
            throw .unavailable("The KMS key \(name) is in the state \(AWSText.excerpt(keyState)); it must be Enabled.")
        }
    }
}

extension KeyedDecodingContainer {
    /// Nil for an absent member and for null, which some services write in place of leaving a member out.
    func decodeOrNull<Value: Decodable>(_ key: Key) throws -> Value? {
        guard contains(key) else { return nil }
        return try decode(Value?.self, forKey: key)
    }
}
