internal import Crypto
internal import Encodings
internal import PKCS11
internal import SigningKit

/// A private key that is in the token and has not been checked yet.
struct NewPrivateKey {
    let object: ObjectHandle
    let method: ProvisionedKey.Method
    var warnings: [String]
}

extension ProvisionedKey {
    init(
        _ publicKey: P256.Signing.PublicKey, _ method: Method, label: String, id: [UInt8],
        attributes: [(name: String, value: String)], warnings: [String], lacksPublicKey: Bool = false
    ) {
        let summary =
            switch method {
            case .unwrapped: "It was imported by C_UnwrapKey under a temporary key, which the token made and deleted."
            case .unwrappedPackage: "It was unwrapped in the token; it was never in the clear on this machine."
            case .created:
                "It was imported by C_CreateObject, in the clear, as you allowed: the token cannot unwrap."
            case .generated: "The token made it."
            case .found: "It was there from an interrupted run."
            }
        self.init(
            publicKey: publicKey, method: method, summary: summary, attributes: attributes,
            evidence: ["CKA_LABEL": label, "CKA_ID": Hexadecimal.encode(id)], warnings: warnings,
            lacksPublicKey: lacksPublicKey)
    }
}
