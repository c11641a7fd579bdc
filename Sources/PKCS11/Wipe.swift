internal import Glibc

/// Overwrites with zeros in a way that the optimiser does not leave out, as it does with stores that nobody reads.
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let address = bytes.baseAddress else { return }
    explicit_bzero(address, bytes.count)
}
