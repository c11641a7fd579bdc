import Glibc
import SigningKit

/// A key file, read once, directly into the secure heap.
struct KeyFile {
    let path: String
    /// Whether the group and others may have access.
    let allowsSharing: Bool

    /// In bytes. A key in PEM has about two hundred, an encrypted one about five hundred.
    static let maximumSize = 16 << 10

    func read() throws(KeyError) -> SecureBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw openError(errno) }
        defer { close(descriptor) }
        let size = try checkedSize(descriptor)
        guard let content = SecureBytes(capacity: size + 1) else {
            throw .unavailable("There is no room on libcrypto's secure heap for the key file \(path).")
        }
        try content.fill { room throws(KeyError) in try fill(room, from: descriptor) }
        guard content.count > 0 else { throw .unfit("The key file \(path) is empty.") }
        guard content.count <= size else { throw .unfit("The key file \(path) grew while it was read; try again.") }
        return content
    }

    private func checkedSize(_ descriptor: Int32) throws(KeyError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw openError(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unfit("\(path) is not a file.") }
        if status.st_mode & 0o077 != 0, !allowsSharing {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw .unfit(
                "The key file \(path) can be read or changed by group or others (mode \(mode)). Run: chmod 600 \(path)"
                    + " (or set allowSharedFiles if the volume of the file cannot set a mode).")
        }
        guard status.st_size <= Self.maximumSize else {
            throw .unfit("\(path) has \(status.st_size) bytes; a key file has at most \(Self.maximumSize).")
        }
        return Int(status.st_size)
    }

    private func fill(_ room: UnsafeMutableRawBufferPointer, from descriptor: Int32) throws(KeyError) -> Int {
        var count = 0
        while count < room.count {
            let result = Glibc.read(descriptor, room.baseAddress?.advanced(by: count), room.count - count)
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw openError(errno) }
            if result == 0 { break }
            count += result
        }
        return count
    }

    private func openError(_ code: Int32) -> KeyError {
        switch code {
        case ENOENT, ENOTDIR: .notFound("There is no key file at \(path).")
        case EACCES, EPERM: .unfit("The key file \(path) cannot be read by this user (uid \(getuid())).")
        default: .unfit("The key file \(path) cannot be read: \(String(cString: strerror(code))).")
        }
    }
}
