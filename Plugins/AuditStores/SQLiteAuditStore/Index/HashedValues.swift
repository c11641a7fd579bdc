import AuditKit

/// Values that hardly ever come twice, such as request IDs: 4 bytes for each, sorted. Twenty bits are a hash and the lowest
/// twelve the place in the segment, so that a search looks at one wrong entry in 256 segments.
struct HashedValues {
    private var numbers: [UInt32] = []

    init() {}

    mutating func insert(_ value: String, at position: Int) {
        numbers.append(Self.hash(value) | UInt32(truncatingIfNeeded: position % AuditSegment.size))
    }

    /// Little-endian.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(numbers.count * 4)
        for number in numbers.sorted() {
            for shift in stride(from: UInt32(0), through: 24, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        return bytes
    }

    /// Where the value may be.
    static func positions(of value: String, in encoded: UnsafeRawBufferPointer) -> Positions {
        let wanted = hash(value)
        var positions = Positions()
        var place = firstPlace(from: wanted, in: encoded)
        while place < encoded.count / 4, case let found = number(place, encoded), found & ~0xfff == wanted {
            positions.insert(Int(found & 0xfff))
            place += 1
        }
        return positions
    }

    private static func firstPlace(from wanted: UInt32, in encoded: UnsafeRawBufferPointer) -> Int {
        var low = 0
        var high = encoded.count / 4
        while low < high {
            let middle = (low + high) / 2
            if number(middle, encoded) < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func number(_ place: Int, _ encoded: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(littleEndian: encoded.loadUnaligned(fromByteOffset: place * 4, as: UInt32.self))
    }

    /// The highest twenty bits of FNV-1a with 64, stirred once more.
    private static func hash(_ value: String) -> UInt32 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in value.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        return UInt32(truncatingIfNeeded: hash >> 32) & ~0xfff
    }
}
