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

    /// For people, with the ID as a URI has it.
    var name: String {
        "the key \"\(shownLabel)\"" + (id.isEmpty ? "" : " (id=\(Self.escaped(id)))")
    }

    /// Attributes that choose this key in a URI.
    var attributes: String { "object=\(shownLabel), id=\(Self.escaped(id))" }

    /// Characters of a label and bytes of an ID that a message shows: a token may have 64 KiB of either.
    private static let shownLength = 128

    private var shownLabel: String {
        label.count > Self.shownLength ? label.prefix(Self.shownLength) + "…" : label
    }

    private static func escaped(_ id: [UInt8]) -> String {
        let shown = id.prefix(shownLength).map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        return shown.joined() + (id.count > shownLength ? "…" : "")
    }
}
