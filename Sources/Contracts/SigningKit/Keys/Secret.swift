import Glibc

/// Secret bytes. They have no description, and are wiped when the last reference is released.
public final class Secret: @unchecked Sendable {
    // Written only in `init` and read only until `deinit`.
    private let buffer: UnsafeMutableRawBufferPointer

    /// Copies `bytes`. The creator of the original must wipe it.
    public init(_ bytes: UnsafeRawBufferPointer) {
        buffer = .allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyMemory(from: bytes)
    }

    deinit {
        Self.wipe(buffer)
        buffer.deallocate()
    }

    public var count: Int { buffer.count }

    /// Passes the bytes to `body`, which must not keep them.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(buffer))
    }

    /// Overwrites with zeros; the compiler cannot optimise this away.
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

/// Reads PINs and passphrases from files and credentials, never from arguments.
public protocol SecretSource: Sendable {
    /// - Parameter reference: `file:/absolute/path`, or `credential:NAME` for a systemd credential.
    /// - Throws: `KeyError.secretUnavailable`, which names the location, never the content.
    func secret(_ reference: String) throws(KeyError) -> Secret

    /// Identifies the content of a secret without reading it; nil if the source cannot.
    ///
    /// - Returns: device, inode, size and modification time of the file. A changed secret has another identity.
    func identity(of reference: String) -> String?
}

extension SecretSource {
    public func identity(of reference: String) -> String? { nil }
}
