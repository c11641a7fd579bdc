import CLibCrypto
import Glibc

/// Bytes on the secure heap, wiped when the last reference is released.
final class SecureBytes {
    private let address: UnsafeMutableRawPointer
    private let capacity: Int
    /// The number of valid bytes; the rest is unused capacity.
    private(set) var count: Int

    /// - Returns: nil when the secure heap is full.
    init?(capacity: Int) {
        _ = SecureHeap.protection
        guard let address = privyseal_secure_malloc(max(capacity, 1)) else { return nil }
        self.address = address
        self.capacity = max(capacity, 1)
        count = 0
    }

    deinit {
        privyseal_secure_clear_free(address, capacity)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: address, count: count) }

    /// - Parameter write: fills the buffer and returns the number of valid bytes, at most `capacity`.
    func fill<Failure: Error>(_ write: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int) throws(Failure) {
        count = min(max(try write(UnsafeMutableRawBufferPointer(start: address, count: capacity)), 0), capacity)
    }

    func append(_ byte: UInt8) {
        guard count < capacity else { return }
        address.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }
}

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
