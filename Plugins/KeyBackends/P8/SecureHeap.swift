import CLibCrypto
import Glibc

/// libcrypto's secure heap: memory that is locked (never swapped) and left out of core dumps
/// (`CRYPTO_secure_malloc_init`). Private keys and what a signature computes from them live there.
enum SecureHeap {
    enum Protection: Sendable {
        /// Locked and left out of dumps.
        case locked
        /// Left out of dumps where the kernel can; the limit on locked memory (`ulimit -l`) was too low to lock it.
        case unlocked
        /// There is none: another part of the process was first, or memory ran out.
        case none
    }

    /// Set up once, before the first key; later calls give the first answer.
    static let protection: Protection = {
        switch CRYPTO_secure_malloc_init(size, smallestBlock) {
        case 1: .locked
        case 2: .unlocked
        default: CRYPTO_secure_malloc_initialized() == 1 ? .locked : .none
        }
    }()

    /// In bytes, a power of two. A key needs some hundred, a signature in flight some thousand; 64 KiB is what even a
    /// small container may lock.
    private static var size: Int {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0
        return isKnown && limit.rlim_cur < 1 << 20 ? 1 << 16 : 1 << 19
    }

    /// In bytes; a P-256 scalar has 32.
    private static let smallestBlock = 32
}
