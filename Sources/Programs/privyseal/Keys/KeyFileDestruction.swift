import Foundation
import Glibc

/// Overwrites a key file and removes it.
struct KeyFileDestruction {
    let path: String

    /// The limits of overwriting, for the person who decides.
    static let limits =
        "Overwriting reaches this file's blocks only. An SSD keeps old blocks for a while, file systems that copy on "
        + "write (Btrfs, ZFS, overlays) and journals keep old versions, and backups, snapshots and downloads have copies of "
        + "their own: look for those yourself."

    func run() throws(FileDestructionError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw failure("opened") }
        defer { close(descriptor) }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard attributes?[.type] as? FileAttributeType == .typeRegular, size >= 0 else {
            throw FileDestructionError("\(path) is not a file. It was left as it is.")
        }
        guard attributes?[.referenceCount] as? Int == 1 else {
            throw FileDestructionError("\(path) has more than one name (hard links). It was left as it is.")
        }
        var random = SystemRandomNumberGenerator()
        let noise = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        for content in [noise, [UInt8](repeating: 0, count: noise.count)] {
            guard pwrite(descriptor, content, content.count, 0) == content.count, fsync(descriptor) == 0 else {
                throw failure("overwritten")
            }
        }
        guard unlink(path) == 0 else { throw failure("removed after it was overwritten") }
        syncDirectory()
    }

    private func syncDirectory() {
        let parent = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
        let descriptor = open(parent.isEmpty ? "/" : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure(_ deed: String) -> FileDestructionError {
        FileDestructionError("\(path) could not be \(deed): \(String(cString: strerror(errno))).")
    }
}

struct FileDestructionError: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
