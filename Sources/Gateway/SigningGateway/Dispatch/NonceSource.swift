import Glibc
import SigningKit
import Synchronization

/// Nonces from the kernel's random numbers, sixteen for each system call: a call for each nonce would cost as much as
/// hashing the signing input. A nonce becomes public when it is used, so stored nonces need no protection.
final class NonceSource: Sendable {
    private let stock = Mutex(Stock())

    private struct Stock {
        /// Two words for each nonce. `getentropy` returns 256 bytes at most.
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
        // This happens only on kernels without getrandom(2). The generator reads /dev/urandom there.
        var generator = SystemRandomNumberGenerator()
        for index in words.indices { words[index] = generator.next() }
    }
}
