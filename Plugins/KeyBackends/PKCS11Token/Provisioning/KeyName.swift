internal import Crypto
internal import PKCS11
internal import SigningKit

/// Under what label and ID a key is to be.
struct KeyName: Sendable {
    let label: String
    let id: [UInt8]
    /// Whether the ID was made from the public key, so that nothing else has it by chance.
    let isDerived: Bool

    /// - Parameter publicKey: gives the ID where the URI names none: the SHA-1 of its point (RFC 5280 §4.2.1.2, method
    ///   1). Nil for a key that is not made yet: then it is random.
    init(_ selector: KeySelector, publicKey: P256.Signing.PublicKey?) throws(KeyError) {
        let attributes = try TokenAddress.parse(selector.uri).objectAttributes
        guard let label = attributes.first(where: { $0.kind == .label }), !label.value.isEmpty else {
            throw .invalidURI("it must give the key that is to be a label with object=…")
        }
        self.label = String(decoding: label.value, as: UTF8.self)
        if let id = attributes.first(where: { $0.kind == .id })?.value, !id.isEmpty {
            (self.id, isDerived) = (id, false)
        } else if let publicKey {
            (id, isDerived) = (Array(Insecure.SHA1.hash(data: publicKey.x963Representation)), true)
        } else {
            (id, isDerived) = (Self.randomID(), true)
        }
    }

    private init(label: String, id: [UInt8]) {
        (self.label, self.id, isDerived) = (label, id, true)
    }

    /// For an object of the session that is gone before anybody looks for it.
    static var transient: KeyName { KeyName(label: "privyseal-transient", id: randomID()) }

    private static func randomID() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    var attributes: [Attribute] { [Attribute(.label, text: label), Attribute(.id, bytes: id)] }
}
