import AuditKit

/// A value of a field, to the byte: for Swift's `==` two ways to write an accent are one text.
struct IndexedTerm: Hashable {
    let field: AuditTerm
    let value: [UInt8]

    init(_ field: AuditTerm, _ value: String) {
        self.init(field, bytes: Array(value.utf8))
    }

    init(_ field: AuditTerm, bytes: [UInt8]) {
        self.field = field
        value = bytes
    }

    var text: String { String(decoding: value, as: UTF8.self) }
}

extension AuditTerm {
    /// What the index calls the field.
    var number: Int {
        switch self {
        case .client: 1
        case .app: 2
        case .feature: 3
        case .product: 4
        case .offer: 5
        case .key: 6
        case .outcome: 7
        case .requestID: 8
        case .kind: 9
        case .user: 10
        }
    }

    /// Whether its values are so many that each is in a few entries at most.
    var isHashed: Bool { self == .requestID || self == .user }

    static let hashed = allCases.filter(\.isHashed)
    static let kept = allCases.filter { !$0.isHashed }
}
