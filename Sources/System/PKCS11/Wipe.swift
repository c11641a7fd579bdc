internal import Glibc

/// Overwrites the bytes with zeros. The optimiser removes ordinary stores that are never read, but not this one.
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let address = bytes.baseAddress else { return }
    explicit_bzero(address, bytes.count)
}
