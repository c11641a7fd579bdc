import Crypto
import StrictJSON

extension WrappedKey: Codable {
    private enum CodingKeys: CodingKey {
        case wrappingKey, publicKey, hash, encryptedAESKey, encryptedKey
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            wrappingKey: try container.decode(PublicKeyFingerprint.self, forKey: .wrappingKey),
            publicKey: try container.decode(CodedPublicKey.self, forKey: .publicKey).key,
            hash: try container.decode(WrappingHash.self, forKey: .hash),
            encryptedAESKey: try container.decode([UInt8].self, forKey: .encryptedAESKey),
            encryptedKey: try container.decode([UInt8].self, forKey: .encryptedKey))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(wrappingKey, forKey: .wrappingKey)
        try container.encode(CodedPublicKey(key: publicKey), forKey: .publicKey)
        try container.encode(hash, forKey: .hash)
        try container.encode(encryptedAESKey, forKey: .encryptedAESKey)
        try container.encode(encryptedKey, forKey: .encryptedKey)
    }
}

extension ProvisionedKey: Codable {
    private enum CodingKeys: CodingKey {
        case publicKey, method, summary, attributes, evidence, warnings, lacksPublicKey
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            publicKey: try container.decode(CodedPublicKey.self, forKey: .publicKey).key,
            method: try container.decode(Method.self, forKey: .method),
            summary: try container.decode(String.self, forKey: .summary),
            attributes: try container.decode([KeyInspection.Fact].self, forKey: .attributes).map {
                ($0.name, $0.value)
            },
            evidence: try container.decode([String: String].self, forKey: .evidence),
            warnings: try container.decode([String].self, forKey: .warnings),
            lacksPublicKey: try container.decode(Bool.self, forKey: .lacksPublicKey))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(CodedPublicKey(key: publicKey), forKey: .publicKey)
        try container.encode(method, forKey: .method)
        try container.encode(summary, forKey: .summary)
        try container.encode(attributes.map { KeyInspection.Fact($0.name, $0.value) }, forKey: .attributes)
        try container.encode(evidence, forKey: .evidence)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(lacksPublicKey, forKey: .lacksPublicKey)
    }
}

/// A public key as its X9.63 point of 65 bytes.
private struct CodedPublicKey: Codable {
    let key: P256.Signing.PublicKey

    init(key: P256.Signing.PublicKey) { self.key = key }

    init(from decoder: any Decoder) throws {
        let point = try decoder.singleValueContainer().decode([UInt8].self)
        guard let key = try? P256.Signing.PublicKey(x963Representation: point) else {
            throw JSONReadError(.invalid("must be a point on P-256"))
        }
        self.key = key
    }

    func encode(to encoder: any Encoder) throws { try Array(key.x963Representation).encode(to: encoder) }
}
