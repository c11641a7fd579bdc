import Glibc

/// Small files of /proc.
enum TextFile {
    static func read(_ path: String) throws(LayerFailure) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw LayerFailure("open \(path)", errno: errno) }
        defer { close(file) }
        var content: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &block, block.count)
            guard count >= 0 else { throw LayerFailure("read \(path)", errno: errno) }
            guard count > 0 else { return String(decoding: content, as: UTF8.self) }
            content += block[..<count]
        }
    }

    static func write(_ text: String, to path: String) throws(LayerFailure) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw LayerFailure("open \(path)", errno: errno) }
        defer { close(file) }
        guard Glibc.write(file, text, text.utf8.count) >= 0 else { throw LayerFailure("write \(path)", errno: errno) }
    }
}
