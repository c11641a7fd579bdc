import Glibc

/// The service manager's notification socket (sd_notify(3)): datagrams without answers. An error here must not harm the
/// service, so nothing throws.
public struct NotifySocket: Sendable {
    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter variable: reads the environment.
    /// - Returns: nil if `NOTIFY_SOCKET` is not set or holds no valid address.
    public init?(variable: (String) -> String? = Environment.variable) {
        guard let address = variable("NOTIFY_SOCKET") else { return nil }
        self.init(address: address)
    }

    /// - Parameter address: an absolute path, or `@` and an abstract name; at most 107 bytes.
    public init?(address text: String) {
        guard text.hasPrefix("/") || text.hasPrefix("@"), !text.utf8.contains(0) else { return nil }
        var bytes = Array(text.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            // The last byte stays zero, to end a path.
            guard (2..<room.count).contains(bytes.count) else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        self.address = address
        // The length ends an abstract name, not a zero byte.
        length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + bytes.count)
    }

    /// Sends several messages in one datagram, so that the manager processes them together. Waits for a second at most
    /// if the manager's queue is full: a lost `ready` would fail the start.
    ///
    /// - Returns: whether the manager has the messages.
    @discardableResult
    public func send(_ messages: ServiceMessage...) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let bytes = messages.map(\.text).joined().utf8.map { $0 }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length) == bytes.count
            }
        }
    }
}
