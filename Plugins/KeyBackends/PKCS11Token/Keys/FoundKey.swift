internal import Encodings
internal import PKCS11

/// A private key as the token shows it.
struct FoundKey: Sendable {
    let handle: ObjectHandle
    let label: String
    let id: [UInt8]

    init(_ handle: ObjectHandle, in session: Session) throws(PKCS11Error) {
        self.handle = handle
        label = String(decoding: try session.value(of: .label, in: handle) ?? [], as: UTF8.self)
        id = try session.value(of: .id, in: handle) ?? []
    }

    /// For messages, with the ID as in a URI.
    var name: String {
        "the key \"\(shownLabel)\"" + (id.isEmpty ? "" : " (id=\(Self.escaped(id)))")
    }

    /// The attributes that select this key in a URI.
    var attributes: String { "object=\(shownLabel), id=\(Self.escaped(id))" }

    /// Maximum characters of a label and bytes of an ID in a message: either may have 64 KiB in a token.
    private static let shownLength = 128

    private var shownLabel: String {
        label.count > Self.shownLength ? label.prefix(Self.shownLength) + "…" : label
    }

    private static func escaped(_ id: [UInt8]) -> String {
        let shown = id.prefix(shownLength).map { "%" + Hexadecimal.encode([$0], uppercase: true) }
        return shown.joined() + (id.count > shownLength ? "…" : "")
    }
}
