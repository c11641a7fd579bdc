import Glibc
import SignerProtocol
import Synchronization

/// The signer's end of its connection to the gateway. One thread reads; any thread may write.
public final class SignerSocket: Sendable {
    private let descriptor: Int32
    private let onLoss: @Sendable () -> Void
    private let writing = Mutex<Void>(())

    /// In bytes; a batch of digests from a busy gateway is smaller.
    private static let readSize = 64 << 10

    init(_ descriptor: Int32, onLoss: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.onLoss = onLoss
    }

    /// Reads until `handle` has all frames of one read(2).
    ///
    /// - Returns: false at the end of the stream, or after an error of it.
    func read(
        into frames: inout SignerFrameReader, _ handle: (SignerFrame) throws(SignerProtocolError) -> Void
    ) throws(SignerProtocolError) -> Bool {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.readSize, alignment: 1)
        defer { room.deallocate() }
        let count = Self.retrying { Glibc.read(descriptor, room.baseAddress, room.count) }
        guard count > 0 else { return false }
        frames.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
        while let frame = try frames.next() { try handle(frame) }
        return true
    }

    /// Writes all bytes, unless there is no gateway at the other end any more.
    func send(_ bytes: [UInt8]) {
        writing.withLock { _ in
            bytes.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = Self.retrying {
                        Glibc.send(descriptor, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return onLoss() }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    func send(_ message: some Encodable, as kind: SignerFrame.Kind) {
        send(SignerFrame.encoding(message, as: kind).bytes)
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let count = call()
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
