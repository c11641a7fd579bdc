import Glibc

/// A configuration file that registers a module with p11-kit (pkcs11.conf(5)), such as `softhsm2.module`.
public struct P11KitModuleFile: Sendable {
    /// An absolute path, or a name in p11-kit's module directory.
    let module: String
    /// The argument for `C_Initialize`.
    let arguments: String?

    /// p11-kit's directories, without the user's own. A value in an earlier directory wins.
    public static let directories = ["/etc/pkcs11/modules", "/usr/share/p11-kit/modules"]
    /// In bytes. A typical file has about a hundred.
    private static let maximumSize = 16 << 10

    /// - Returns: nil when no directory has a file for this name.
    static func find(_ name: String, in directories: [String]) throws(PKCS11Error) -> P11KitModuleFile? {
        var values: [String: String] = [:]
        var paths: [String] = []
        for directory in directories {
            let path = "\(directory)/\(name).module"
            guard let found = try read(path) else { continue }
            paths.append(path)
            values.merge(found) { earlier, _ in earlier }
        }
        guard let path = paths.first else { return nil }
        guard let module = values["module"], !module.isEmpty else {
            throw .damagedModuleFile(
                path, values["remote"] == nil ? "it names no module" : "it runs a command (remote)")
        }
        let arguments = values["x-init-reserved"].flatMap { $0.isEmpty ? nil : $0 }
        return P11KitModuleFile(module: module, arguments: arguments)
    }

    /// Reads lines such as `module: libsofthsm2.so`. Lines that begin with # are comments.
    private static func read(_ path: String) throws(PKCS11Error) -> [String: String]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .damagedModuleFile(path, String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumSize + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .damagedModuleFile(path, String(cString: strerror(errno))) }
        guard count <= maximumSize else { throw .damagedModuleFile(path, "it is longer than \(maximumSize) bytes") }
        var values: [String: String] = [:]
        for line in String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            guard !line.hasPrefix("#"), let colon = line.firstIndex(of: ":") else { continue }
            values[trimmed(line[..<colon])] = trimmed(line[line.index(after: colon)...])
        }
        return values
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
