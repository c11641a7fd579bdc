/// The mounts of this process (proc_pid_mountinfo(5)).
struct MountTable {
    private struct Mount {
        /// Major and minor number, such as `8:1`.
        let device: Substring
        /// The directory of the file system that is mounted.
        let root: [String]
        let point: [String]
    }

    private let mounts: [Mount]

    /// - Parameter text: the content of `/proc/self/mountinfo`.
    init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 4, fields[3].hasPrefix("/") else { return nil }
            return Mount(device: fields[2], root: Self.components(of: fields[3]), point: Self.components(of: fields[4]))
        }
    }

    /// The paths at which other mounts of the same file system show a path, or a part of what is below it.
    ///
    /// - Parameter path: absolute, without symbolic links.
    func aliases(of path: String) -> [String] {
        let components = PathTree.components(of: path)
        // Of two mounts at one point, the later one covers the earlier one.
        guard
            let index = mounts.indices.filter({ components.starts(with: mounts[$0].point) })
                .max(by: { mounts[$0].point.count <= mounts[$1].point.count })
        else { return [] }
        let mount = mounts[index]
        let inside = mount.root + components.dropFirst(mount.point.count)
        return mounts.indices.compactMap { other in
            guard other != index, mounts[other].device == mount.device else { return nil }
            return Self.alias(of: inside, in: mounts[other])
        }
    }

    private static func alias(of inside: [String], in mount: Mount) -> String? {
        if inside.starts(with: mount.root) {
            return "/" + (mount.point + inside.dropFirst(mount.root.count)).joined(separator: "/")
        }
        return mount.root.starts(with: inside) ? "/" + mount.point.joined(separator: "/") : nil
    }

    /// Spaces, tabs, newlines and backslashes are escaped in octal, such as `\040`.
    private static func components(of field: Substring) -> [String] {
        var bytes: [UInt8] = []
        var rest = field.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), let code = UInt8(Substring(digits), radix: 8), digits.count == 3 {
                bytes.append(code)
                rest.removeFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return PathTree.components(of: String(decoding: bytes, as: UTF8.self))
    }
}
