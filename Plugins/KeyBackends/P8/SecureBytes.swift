import CLibCrypto

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
