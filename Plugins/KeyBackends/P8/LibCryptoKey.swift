import CLibCrypto
import Glibc

/// A P-256 private key in libcrypto, with its scalar on the secure heap.
final class LibCryptoKey: @unchecked Sendable {
    // `EVP_PKEY` is reference-counted and never changes after `init`; libcrypto may read it from any thread.
    let pkey: OpaquePointer
    /// The public point: 65 bytes, uncompressed (SEC 1 §2.3.3).
    let point: [UInt8]

    /// - Parameter scalar: at most 32 bytes, big-endian.
    /// - Returns: nil unless 0 < scalar < n.
    init?(scalar: UnsafeRawBufferPointer) {
        _ = SecureHeap.protection
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        defer { EC_GROUP_free(group) }
        guard let number = BN_secure_new() else { return nil }
        defer { BN_clear_free(number) }
        BN_set_flags(number, BN_FLG_CONSTTIME)
        let address = scalar.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard BN_bin2bn(address, Int32(scalar.count), number) != nil, BN_is_zero(number) == 0,
            BN_cmp(number, EC_GROUP_get0_order(group)) < 0,
            let point = Self.point(number, on: group), let pkey = privyseal_p256_key(number, point, point.count)
        else { return nil }
        self.point = point
        self.pkey = pkey
    }

    deinit {
        EVP_PKEY_free(pkey)
    }

    func hasPoint(_ other: UnsafeRawBufferPointer) -> Bool {
        if other.elementsEqual(point) { return true }
        // The compressed form: the sign of y, then x.
        return other.count == 33 && other[0] == 2 | (point[64] & 1) && other.dropFirst().elementsEqual(point[1..<33])
    }

    private static func point(_ scalar: OpaquePointer, on group: OpaquePointer) -> [UInt8]? {
        guard let point = EC_POINT_new(group), let context = BN_CTX_secure_new() else { return nil }
        defer {
            EC_POINT_free(point)
            BN_CTX_free(context)
        }
        var bytes = [UInt8](repeating: 0, count: 65)
        guard EC_POINT_mul(group, point, scalar, nil, nil, context) == 1,
            EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == bytes.count
        else { return nil }
        return bytes
    }
}

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

    /// A `PrivateKeyInfo` in DER; nil if the secure heap is full.
    static func encode(_ info: OpaquePointer) -> SecureBytes? {
        let count = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        guard count > 0, let encoded = SecureBytes(capacity: Int(count)) else { return nil }
        encoded.fill { room in
            var address = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return Int(i2d_PKCS8_PRIV_KEY_INFO(info, &address))
        }
        return encoded
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
