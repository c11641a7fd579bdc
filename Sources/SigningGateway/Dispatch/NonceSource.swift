import Glibc
import SigningKit
import Synchronization

/// Nonces from the kernel's random numbers, fetched sixteen at a time: a system call for each would cost as much as
/// hashing what is signed. A nonce is public once it is used, so those that wait need no protection.
final class NonceSource: Sendable {
    private let stock = Mutex(Stock())

    private struct Stock {
        /// Two for each nonce; 256 bytes are what `getentropy` gives at most.
        var words = InlineArray<32, UInt64>(repeating: 0)
        var next = 32
    }

    func next() -> Nonce {
        stock.withLock { stock in
            if stock.next == 32 {
                Self.fill(&stock.words)
                stock.next = 0
            }
            defer { stock.next += 2 }
            return Nonce(random: stock.words[stock.next], stock.words[stock.next + 1])
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
