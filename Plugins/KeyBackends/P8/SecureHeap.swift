import CLibCrypto
import Glibc

/// libcrypto's secure heap (`CRYPTO_secure_malloc_init`): memory that is locked (never swapped) and left out of core
/// dumps. It holds private keys and the intermediate values of signatures.
enum SecureHeap {
    enum Protection: Sendable {
        case locked
        /// Left out of core dumps if the kernel can. The limit on locked memory (`ulimit -l`) was too low to lock it.
        case unlocked
        /// There is no secure heap: memory ran out.
        case none
    }

    /// Initialised once, before the first key.
    static let protection: Protection = {
        switch CRYPTO_secure_malloc_init(size, smallestBlock) {
        case 1: .locked
        case 2: .unlocked
        default: CRYPTO_secure_malloc_initialized() == 1 ? .locked : .none
        }
    }()

    /// In bytes, a power of two. A key needs hundreds, a signature in flight thousands. Small containers may lock 64
    /// KiB.
    private static var size: Int {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0
        return isKnown && limit.rlim_cur < 1 << 20 ? 1 << 16 : 1 << 19
    }

    /// In bytes; a P-256 scalar has 32.
    private static let smallestBlock = 32
}
