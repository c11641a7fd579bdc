internal import Crypto
internal import PKCS11
internal import SigningKit

struct KeyName: Sendable {
    let label: String
    let id: [UInt8]
    /// Whether the ID is random or derived from the public key, so that no other object has it by chance.
    let isDerived: Bool

    /// - Parameter publicKey: the source of the ID if the URI names none: the SHA-1 of its point (RFC 5280 §4.2.1.2,
    ///   method 1). Nil for a key that does not exist yet; its ID is random.
    init(_ selector: KeySelector, publicKey: P256.Signing.PublicKey?) throws(KeyError) {
        let attributes = try TokenAddress.parse(selector.uri).objectAttributes
        guard let label = attributes.first(where: { $0.kind == .label }), !label.value.isEmpty else {
            throw .invalidURI("it must give the new key a label with object=…")
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

    /// For a session object that no search has to find.
    static var transient: KeyName { KeyName(label: "privyseal-transient", id: randomID()) }

    private static func randomID() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    var attributes: [Attribute] { [Attribute(.label, text: label), Attribute(.id, bytes: id)] }
}
