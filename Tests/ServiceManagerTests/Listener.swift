import Glibc

/// A service manager's end of the notification socket.
final class Listener {
    let address: String
    private let descriptor: Int32

    enum Place { case path, abstract }

    init?(_ place: Place) {
        let name = "/tmp/privyseal-notify-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        address = place == .path ? name : "@" + name
        var socketAddress = sockaddr_un()
        socketAddress.sun_family = sa_family_t(AF_UNIX)
        let bytes = place == .path ? Array(name.utf8) : [0] + Array(name.utf8)
        withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: bytes) }
        // The length of a path includes its final zero; an abstract name has no terminator.
        let length = socklen_t(2 + bytes.count + (place == .path ? 1 : 0))
        let result = withUnsafePointer(to: &socketAddress) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        if result != 0 { return nil }
    }

    /// The next datagram, or nil if there is none: a local socket delivers at once.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    deinit {
        close(descriptor)
        if !address.hasPrefix("@") { unlink(address) }
    }
}
