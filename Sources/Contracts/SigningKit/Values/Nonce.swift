/// A one-time value: a version 4 UUID (RFC 9562 §5.4). Apple accepts its text only in lower case.
public struct Nonce: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Makes a UUID of 128 random bits. Version and variant replace six of them.
    public init(random high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// 36 lower-case characters in groups of 8, 4, 4, 4 and 12, as ASCII.
    public var text: [UInt8] {
        let dash = UInt8(ascii: "-")
        return [UInt8](unsafeUninitializedCapacity: 36) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(buffer)
            // Writes eight digits at a time. For groups of four, the next write overwrites the surplus digits.
            room.storeBytes(of: Self.digits(high >> 32).bigEndian, toByteOffset: 0, as: UInt64.self)
            room.storeBytes(of: Self.digits(high).bigEndian, toByteOffset: 9, as: UInt64.self)
            room.storeBytes(of: (Self.digits(high) << 32).bigEndian, toByteOffset: 14, as: UInt64.self)
            room.storeBytes(of: Self.digits(low >> 32).bigEndian, toByteOffset: 19, as: UInt64.self)
            room.storeBytes(of: (Self.digits(low >> 32) << 32).bigEndian, toByteOffset: 24, as: UInt64.self)
            room.storeBytes(of: Self.digits(low).bigEndian, toByteOffset: 28, as: UInt64.self)
            for position in [8, 13, 18, 23] { buffer[position] = dash }
            count = 36
        }
    }

    /// The last eight hexadecimal digits of a number, in ASCII, with the first digit in the highest byte.
    private static func digits(_ number: UInt64) -> UInt64 {
        var nibbles = number & 0xFFFF_FFFF
        nibbles = (nibbles << 16 | nibbles) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        // In ASCII, 39 characters lie between "9" and "a".
        return nibbles + 0x3030_3030_3030_3030 + letters * 39
    }
}

extension Nonce: CustomStringConvertible {
    public var description: String { String(decoding: text, as: UTF8.self) }
}
