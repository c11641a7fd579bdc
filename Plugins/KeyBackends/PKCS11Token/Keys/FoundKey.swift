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
        "the key \"\(label)\"" + (id.isEmpty ? "" : " (id=\(Self.escaped(id)))")
    }

    /// Attributes that choose this key in a URI.
    var attributes: String { "object=\(label), id=\(Self.escaped(id))" }

    private static func escaped(_ id: [UInt8]) -> String {
        id.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}
