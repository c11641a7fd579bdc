import Glibc
import Synchronization

/// Random numbers for IDs, read 256 bytes at a time: a system call for each ID would cost more than the rest of a span.
final class RandomWords: Sendable {
    static let shared = RandomWords()

    private let buffer = Mutex(Stock())

    private struct Stock {
        /// 256 bytes, the most that `getentropy` returns.
        var words = InlineArray<32, UInt64>(repeating: 0)
        var next = 32
    }

    func pair() -> (UInt64, UInt64) {
        buffer.withLock { buffer in
            if buffer.next == 32 {
                Self.fill(&buffer.words)
                buffer.next = 0
            }
            defer { buffer.next += 2 }
            return (buffer.words[buffer.next], buffer.words[buffer.next + 1])
        }
    }

    private static func fill(_ words: inout InlineArray<32, UInt64>) {
        var bytes = words.mutableSpan
        guard bytes.withUnsafeMutableBytes({ getentropy($0.baseAddress, $0.count) }) != 0 else { return }
        // Only on kernels without getrandom(2). The generator reads /dev/urandom there.
        var generator = SystemRandomNumberGenerator()
        for index in words.indices { words[index] = generator.next() }
    }
}
