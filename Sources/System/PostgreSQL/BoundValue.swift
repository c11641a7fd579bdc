/// A parameter of a statement.
public enum BoundValue: Sendable {
    case integer(Int)
    case text(String)
    case bytes([UInt8])
    /// One value for each row of `unnest`.
    case integers([Int])
    case byteArrays([[UInt8]?])

    /// The type in `pg_type`.
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .text: 25
        case .bytes: 17
        case .integers: 1016
        case .byteArrays: 1001
        }
    }

    /// The binary format (`*_send` of the types in the server's source); nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let number): Self.bigEndian(Int64(number))
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .integers(let numbers): Self.array(of: 20, numbers.map { Self.bigEndian(Int64($0)) })
        case .byteArrays(let arrays): Self.array(of: 17, arrays)
        }
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// The header: dimensions, whether there are NULLs, the element's type, the length, and the first index. Then each
    /// element with its length in front; -1 for NULL.
    private static func array(of type: Int32, _ elements: [[UInt8]?]) -> [UInt8] {
        let hasNulls = elements.contains { $0 == nil }
        var bytes = [1, hasNulls ? 1 : 0, type, Int32(clamping: elements.count), 1].flatMap { bigEndian($0 as Int32) }
        for element in elements {
            bytes += bigEndian(element.map { Int32(clamping: $0.count) } ?? -1)
            bytes += element ?? []
        }
        return bytes
    }
}
