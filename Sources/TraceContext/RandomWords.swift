import Glibc
import Synchronization

/// Random numbers for IDs, fetched from the kernel 256 bytes at a time: a system call for each would cost more than
/// everything else that is done for a span.
final class RandomWords: Sendable {
    static let shared = RandomWords()

    private let stock = Mutex(Stock())

    private struct Stock {
        /// 256 bytes are what `getentropy` gives at most.
        var words = InlineArray<32, UInt64>(repeating: 0)
        var next = 32
    }

    func pair() -> (UInt64, UInt64) {
        stock.withLock { stock in
            if stock.next == 32 {
                Self.fill(&stock.words)
                stock.next = 0
            }
            defer { stock.next += 2 }
            return (stock.words[stock.next], stock.words[stock.next + 1])
        }
    }

    private static func fill(_ words: inout InlineArray<32, UInt64>) {
        var bytes = words.mutableSpan
        guard bytes.withUnsafeMutableBytes({ getentropy($0.baseAddress, $0.count) }) != 0 else { return }
        // Only on kernels without getrandom(2); the generator reads /dev/urandom there.
        var generator = SystemRandomNumberGenerator()
        for index in words.indices { words[index] = generator.next() }
    }
}
