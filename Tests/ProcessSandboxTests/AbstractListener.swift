import Foundation
import Glibc

/// A Unix socket with an abstract name (unix(7)), which accepts connections in its backlog.
struct AbstractListener {
    let name = "privyseal-\(UUID().uuidString)"
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = [0] + Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.EINVAL) }
    }

    func close() { _ = Glibc.close(descriptor) }
}
