internal import Crypto
internal import PKCS11
internal import SigningKit

/// The objects that a token already has for a new key.
struct ExistingKeyObjects {
    /// A private key with our label and ID but without a public key: an interrupted import.
    private(set) var leftover: ObjectHandle?
    /// The same, with its public key.
    private(set) var whole: ObjectHandle?
    /// Public keys equal to ours that have no private key.
    private(set) var orphans: [ObjectHandle] = []
    private var hasPublicKey = false
    private let hasLabel: Bool
    private let hasID: Bool

    init(_ name: KeyName, _ publicKey: P256.Signing.PublicKey?, in session: Session) throws(PKCS11Error) {
        let label = Attribute(.label, text: name.label), id = Attribute(.id, bytes: name.id)
        let both = try session.objects(with: [Attribute(.privateKey), label, id])
        hasLabel = try !session.objects(with: [Attribute(.privateKey), label]).isEmpty
        hasID = try !session.objects(with: [Attribute(.privateKey), id]).isEmpty
        if let publicKey {
            for object in try Self.objects(of: publicKey, in: session) {
                let id = try session.value(of: .id, in: object) ?? []
                let owners = try session.objects(with: [Attribute(.privateKey), Attribute(.id, bytes: id)])
                if owners.isEmpty { orphans.append(object) } else { hasPublicKey = true }
            }
        }
        guard both.count == 1 else { return }
        let hasCompanion = try !session.objects(with: [Attribute(.publicKey), id]).isEmpty
        if hasCompanion { whole = both[0] } else { leftover = both[0] }
    }

    /// - Throws: `unfit` if the token must not get the new key.
    func requireNone(_ name: KeyName, _ token: TokenInfo) throws(KeyError) {
        let cure = "Choose another label, or destroy that key first with privyseal keys destroy."
        if hasPublicKey { throw .unfit("The token \(token.name) already has this key. Nothing was changed.") }
        if hasLabel {
            throw .unfit("The token \(token.name) already has a key with the label \"\(name.label)\". \(cure)")
        }
        if hasID { throw .unfit("The token \(token.name) already has a key with this CKA_ID. Choose another id.") }
    }

    /// Public key objects with this point, in either of the two encodings that tokens use.
    static func objects(
        of publicKey: P256.Signing.PublicKey, in session: Session
    ) throws(PKCS11Error) -> [ObjectHandle] {
        let encoded = Attribute(.ecPoint, bytes: KeyTemplate.encodedPoint(publicKey))
        let raw = Attribute(.ecPoint, bytes: Array(publicKey.x963Representation))
        let found = try session.objects(with: [Attribute(.publicKey), encoded])
        return try found + session.objects(with: [Attribute(.publicKey), raw])
    }
}
