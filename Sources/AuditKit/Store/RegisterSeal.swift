import Base64
import Crypto
public import TransparencyLog

/// All registers of a log in one line of its head: without the log's key none can be changed, put back, added or taken
/// out, whether or not the entries that tell of them are still there.
public enum RegisterSeal {
    private static let prefix = "registers "

    /// The line: `registers`, a space, and the Base64 of a SHA-256 over all registers in order of their names' bytes, each
    /// as the length of its name, its name, the index of its entry, and the SHA-256 of its value. Numbers have 8 bytes, the
    /// highest first.
    public static func line(over registers: some Sequence<AuditRegister>) -> String {
        var hash = SHA256()
        for register in registers.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            let name = Array(register.name.utf8)
            hash.update(data: bytes(of: name.count) + name + bytes(of: register.entry))
            hash.update(data: Array(AuditRegister.digest(of: register.value)))
        }
        return prefix + String(decoding: Base64.standard.encode(Array(hash.finalize())), as: UTF8.self)
    }

    /// Nil for a checkpoint that is older than seals are.
    public static func line(in checkpoint: Checkpoint) -> String? {
        checkpoint.extensions.first { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).bigEndian) { Array($0) }
    }
}
