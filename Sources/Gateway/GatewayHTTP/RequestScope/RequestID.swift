import Encodings
import Synchronization

/// Generates request IDs: 16 random hexadecimal digits of the process, and a counter of 12 hexadecimal digits.
enum RequestID {
    private static let process = digits(UInt64.random(in: .min ... .max), 16)
    private static let counter = Atomic<UInt64>(0)

    static func next() -> String {
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return String(unsafeUninitializedCapacity: 28) { buffer in
            _ = buffer.initialize(fromContentsOf: process)
            _ = UnsafeMutableBufferPointer(rebasing: buffer[16..<28]).initialize(fromContentsOf: digits(number, 12))
            return 28
        }
    }

    /// Whether a caller's ID is 1 to 128 visible ASCII characters (RFC 5234, VCHAR) without quotes and backslashes.
    /// Every log can hold such an ID without escapes.
    static func accept(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }

    private static func digits(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { Hexadecimal.digit(UInt8(truncatingIfNeeded: number >> UInt64(4 * (count - 1 - $0))) & 15) }
    }
}
