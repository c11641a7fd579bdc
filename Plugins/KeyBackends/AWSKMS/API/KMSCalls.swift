// The calls of the KMS API, each with the members that this backend uses.

struct DescribeKey: KMSCall {
    static let name = "DescribeKey"
    /// A key ID, an alias or an ARN.
    let keyID: String

    struct Answer: Decodable, Sendable {
        let metadata: KMSKeyMetadata

        private enum CodingKeys: String, CodingKey { case metadata = "KeyMetadata" }
    }

    private enum CodingKeys: String, CodingKey { case keyID = "KeyId" }
}

struct GetPublicKey: KMSCall {
    static let name = "GetPublicKey"
    let keyID: String

    struct Answer: Decodable, Sendable {
        let keyID: String
        /// A SubjectPublicKeyInfo, in Base64.
        let publicKey: String

        private enum CodingKeys: String, CodingKey {
            case keyID = "KeyId"
            case publicKey = "PublicKey"
        }
    }

    private enum CodingKeys: String, CodingKey { case keyID = "KeyId" }
}

struct Sign: KMSCall {
    static let name = "Sign"
    let keyID: String
    /// A digest of 32 bytes, in Base64.
    let message: String
    private let messageType = "DIGEST"
    private let signingAlgorithm = Sign.algorithm

    static let algorithm = "ECDSA_SHA_256"

    init(keyID: String, message: String) {
        (self.keyID, self.message) = (keyID, message)
    }

    struct Answer: Decodable, Sendable {
        let keyID: String
        /// An `Ecdsa-Sig-Value` in DER, in Base64.
        let signature: String
        let signingAlgorithm: String

        private enum CodingKeys: String, CodingKey {
            case keyID = "KeyId"
            case signature = "Signature"
            case signingAlgorithm = "SigningAlgorithm"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case keyID = "KeyId"
        case message = "Message"
        case messageType = "MessageType"
        case signingAlgorithm = "SigningAlgorithm"
    }
}

struct CreateKey: KMSCall {
    static let name = "CreateKey"
    /// Each call makes a key.
    static let isRepeatable = false
    let description: String
    /// `AWS_KMS`, or `EXTERNAL` for a key whose material is imported.
    let origin: String
    private let keySpec = KMSKeyMetadata.spec
    private let keyUsage = KMSKeyMetadata.usage

    init(origin: String, description: String) {
        (self.origin, self.description) = (origin, description)
    }

    typealias Answer = DescribeKey.Answer

    private enum CodingKeys: String, CodingKey {
        case description = "Description"
        case origin = "Origin"
        case keySpec = "KeySpec"
        case keyUsage = "KeyUsage"
    }
}

/// The answer of a call that returns nothing of use.
struct NoAnswer: Decodable, Sendable {}

struct CreateAlias: KMSCall {
    static let name = "CreateAlias"
    /// With `alias/`.
    let alias: String
    let keyID: String

    typealias Answer = NoAnswer

    private enum CodingKeys: String, CodingKey {
        case alias = "AliasName"
        case keyID = "TargetKeyId"
    }
}

struct UpdateKeyDescription: KMSCall {
    static let name = "UpdateKeyDescription"
    let keyID: String
    let description: String

    typealias Answer = NoAnswer

    private enum CodingKeys: String, CodingKey {
        case keyID = "KeyId"
        case description = "Description"
    }
}

struct GetParametersForImport: KMSCall {
    static let name = "GetParametersForImport"
    let keyID: String
    let algorithm: WrappingAlgorithm
    private let keySpec = "RSA_4096"

    init(keyID: String, algorithm: WrappingAlgorithm) {
        (self.keyID, self.algorithm) = (keyID, algorithm)
    }

    enum WrappingAlgorithm: String, Encodable, Sendable {
        /// The private key under RSA-OAEP.
        case oaep = "RSAES_OAEP_SHA_256"
        /// An AES key under RSA-OAEP, then the private key under it by AES-KWP (RFC 5649). Not in China.
        case oaepAndKeyWrap = "RSA_AES_KEY_WRAP_SHA_256"
    }

    struct Answer: Decodable, Sendable {
        let keyID: String
        /// In Base64.
        let importToken: String
        /// A SubjectPublicKeyInfo with an RSA key, in Base64.
        let publicKey: String
        /// Seconds since 1970, 24 hours later.
        let validTo: Double

        private enum CodingKeys: String, CodingKey {
            case keyID = "KeyId"
            case importToken = "ImportToken"
            case publicKey = "PublicKey"
            case validTo = "ParametersValidTo"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case keyID = "KeyId"
        case algorithm = "WrappingAlgorithm"
        case keySpec = "WrappingKeySpec"
    }
}

struct ImportKeyMaterial: KMSCall {
    static let name = "ImportKeyMaterial"
    let keyID: String
    /// In Base64.
    let importToken: String
    /// In Base64.
    let encryptedKeyMaterial: String
    private let expirationModel = "KEY_MATERIAL_DOES_NOT_EXPIRE"

    init(keyID: String, importToken: String, encryptedKeyMaterial: String) {
        (self.keyID, self.importToken, self.encryptedKeyMaterial) = (keyID, importToken, encryptedKeyMaterial)
    }

    typealias Answer = NoAnswer

    private enum CodingKeys: String, CodingKey {
        case keyID = "KeyId"
        case importToken = "ImportToken"
        case encryptedKeyMaterial = "EncryptedKeyMaterial"
        case expirationModel = "ExpirationModel"
    }
}

struct DeleteImportedKeyMaterial: KMSCall {
    static let name = "DeleteImportedKeyMaterial"
    let keyID: String

    typealias Answer = NoAnswer

    private enum CodingKeys: String, CodingKey { case keyID = "KeyId" }
}

struct ScheduleKeyDeletion: KMSCall {
    static let name = "ScheduleKeyDeletion"
    let keyID: String
    /// In days, 7 to 30.
    let window: Int

    typealias Answer = NoAnswer

    private enum CodingKeys: String, CodingKey {
        case keyID = "KeyId"
        case window = "PendingWindowInDays"
    }
}
