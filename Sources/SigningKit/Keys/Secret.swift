import Glibc

/// Bytes that nobody should see: they have no description, and are wiped when the last reference goes.
public final class Secret: @unchecked Sendable {
    // Written once, in `init`, and only read until `deinit`.
    private let buffer: UnsafeMutableRawBufferPointer

    /// Copies `bytes`; wiping the original is up to who made it.
    public init(_ bytes: UnsafeRawBufferPointer) {
        buffer = .allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyMemory(from: bytes)
    }

    deinit {
        Self.wipe(buffer)
        buffer.deallocate()
    }

    public var count: Int { buffer.count }

    /// The bytes, for the time of the call. They must not be kept.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(buffer))
    }

    /// Overwrites with zeros in a way that the compiler does not leave out.
    public static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let address = bytes.baseAddress else { return }
        explicit_bzero(address, bytes.count)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
