import CP11Kit

/// The standard's names of values, for messages.
extension ObjectClass {
    public var name: String {
        switch self {
        case .certificate: "CKO_CERTIFICATE"
        case .publicKey: "CKO_PUBLIC_KEY"
        case .privateKey: "CKO_PRIVATE_KEY"
        case .secretKey: "CKO_SECRET_KEY"
        default: "CKO 0x" + String(rawValue, radix: 16)
        }
    }
}

extension KeyType {
    public var name: String {
        switch self {
        case .rsa: "CKK_RSA"
        case .ec: "CKK_EC"
        case .aes: "CKK_AES"
        default: "CKK 0x" + String(rawValue, radix: 16)
        }
    }
}

extension Mechanism {
    public var name: String { Self.names[rawValue] ?? "CKM 0x" + String(rawValue, radix: 16) }

    private static let names: [UInt: String] = [
        CKM_RSA_PKCS_KEY_PAIR_GEN: "CKM_RSA_PKCS_KEY_PAIR_GEN", CKM_RSA_PKCS: "CKM_RSA_PKCS",
        CKM_RSA_PKCS_OAEP: "CKM_RSA_PKCS_OAEP", CKM_RSA_PKCS_PSS: "CKM_RSA_PKCS_PSS",
        CKM_SHA256_RSA_PKCS: "CKM_SHA256_RSA_PKCS", CKM_SHA_1: "CKM_SHA_1", CKM_SHA256: "CKM_SHA256",
        CKM_SHA384: "CKM_SHA384", CKM_SHA512: "CKM_SHA512", CKM_SHA256_HMAC: "CKM_SHA256_HMAC",
        CKM_GENERIC_SECRET_KEY_GEN: "CKM_GENERIC_SECRET_KEY_GEN", CKM_EC_KEY_PAIR_GEN: "CKM_EC_KEY_PAIR_GEN",
        CKM_ECDSA: "CKM_ECDSA", CKM_ECDSA_SHA256: "CKM_ECDSA_SHA256", CKM_ECDH1_DERIVE: "CKM_ECDH1_DERIVE",
        CKM_AES_KEY_GEN: "CKM_AES_KEY_GEN", CKM_AES_ECB: "CKM_AES_ECB", CKM_AES_CBC: "CKM_AES_CBC",
        CKM_AES_CBC_PAD: "CKM_AES_CBC_PAD", CKM_AES_CTR: "CKM_AES_CTR", CKM_AES_GCM: "CKM_AES_GCM",
        CKM_AES_CMAC: "CKM_AES_CMAC", CKM_AES_KEY_WRAP: "CKM_AES_KEY_WRAP",
        CKM_AES_KEY_WRAP_PAD: "CKM_AES_KEY_WRAP_PAD",
        Mechanism.aesKeyWrapKWP.rawValue: "CKM_AES_KEY_WRAP_KWP", CKM_RSA_AES_KEY_WRAP: "CKM_RSA_AES_KEY_WRAP",
    ]
}
