import AuditKit

/// Some of the entries of a segment, by their places in it: 0..<4096.
struct Positions: Equatable {
    private static let wordCount = AuditSegment.size / 64
    private static let byteCount = AuditSegment.size / 8

    private var words: [UInt64]

    init() {
        words = [UInt64](repeating: 0, count: Self.wordCount)
    }

    static let all: Positions = {
        var positions = Positions()
        for word in positions.words.indices { positions.words[word] = .max }
        return positions
    }()

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// - Parameter position: others than those of a segment are left out.
    mutating func insert(_ position: Int) {
        guard (0..<AuditSegment.size).contains(position) else { return }
        words[position / 64] |= 1 << UInt64(position % 64)
    }

    mutating func formIntersection(_ other: Positions) {
        for word in words.indices { words[word] &= other.words[word] }
    }

    /// In ascending order.
    var ascending: [Int] {
        var positions: [Int] = []
        for (word, bits) in words.enumerated() {
            var bits = bits
            while bits != 0 {
                positions.append(word * 64 + bits.trailingZeroBitCount)
                bits &= bits - 1
            }
        }
        return positions
    }

    // MARK: As bytes

    /// Nothing for all of a segment; else the bits, or the distances from each to the next, whichever is shorter. A
    /// distance has seven bits in a byte, the lowest first, and the eighth bit where more follow (LEB128).
    var encoded: [UInt8] {
        if self == .all { return [] }
        var bytes: [UInt8] = []
        var last = -1
        for position in ascending {
            Self.append(UInt(position - last - 1), to: &bytes)
            last = position
            guard bytes.count < Self.byteCount else { return bits }
        }
        return bytes
    }

    private static func append(_ distance: UInt, to bytes: inout [UInt8]) {
        var rest = distance
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f | 0x80))
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private var bits: [UInt8] { words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } } }

    /// Nil for bytes that mean nothing.
    init?(encoded bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .all
            return
        }
        self.init()
        if bytes.count == Self.byteCount {
            for (place, byte) in bytes.enumerated() { words[place / 8] |= UInt64(byte) << UInt64(place % 8 * 8) }
            return
        }
        var last = -1
        var distance = 0
        var shift = 0
        for byte in bytes {
            distance |= Int(byte & 0x7f) << shift
            shift += 7
            guard shift <= 14 else { return nil }
            if byte & 0x80 != 0 { continue }
            last += distance + 1
            guard last < AuditSegment.size else { return nil }
            insert(last)
            (distance, shift) = (0, 0)
        }
        guard shift == 0 else { return nil }
    }
}
