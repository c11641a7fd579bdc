import Crypto
import Encodings
public import TransparencyLog

/// Binds all registers to the signed tree head, as one line of it. Without the log's key, a register cannot be changed,
/// restored, added or removed, even if the entries that record it are archived.
public enum RegistersLine {
    private static let prefix = "registers "

    /// The line is `registers`, a space, and the Base64 of a SHA-256. The hash covers all registers, sorted by the
    /// bytes of their names. Each contributes its name's length, its name, its entry's index and the SHA-256 of its
    /// value. Numbers are 8 bytes, big-endian.
    public static func line(over registers: some Sequence<AuditRegister>) -> String {
        var hash = SHA256()
        for register in registers.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            let name = Array(register.name.utf8)
            hash.update(data: bytes(of: name.count) + name + bytes(of: register.entry))
            hash.update(data: Array(AuditRegister.digest(of: register.value)))
        }
        return prefix + String(decoding: Base64.standard.encode(Array(hash.finalize())), as: UTF8.self)
    }

    /// The `registers` line of a checkpoint. Nil if an older version signed it (ADR 41).
    public static func line(in checkpoint: Checkpoint) -> String? {
        checkpoint.extensions.first { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).bigEndian) { Array($0) }
    }
}
