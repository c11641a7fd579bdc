internal import CSQLite

/// What the index of a write-ahead log says of it, which all connections of all processes share (sqlite.org/walformat.html,
/// "WAL-Index Format").
public struct LogIndex: Hashable, Sendable {
    /// Those that count; none when the log begins anew with the next commit, because all was copied into the database.
    public let frames: Int
    /// Bytes.
    public let pageSize: Int
    /// As the header of the log and of each of its frames has it: another one each time that it begins anew.
    public let salt: UInt64

    /// - Parameter bytes: 48, of which the last eight are the checksum of the others.
    fileprivate init?(_ bytes: UnsafeRawBufferPointer) {
        var sum: (UInt32, UInt32) = (0, 0)
        for position in stride(from: 0, to: 40, by: 8) {
            sum.0 &+= bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self) &+ sum.1
            sum.1 &+= bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self) &+ sum.0
        }
        guard bytes[12] != 0, bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self) == sum.0,
            bytes.loadUnaligned(fromByteOffset: 44, as: UInt32.self) == sum.1
        else { return nil }
        // 65,536 does not fit.
        let size = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
        pageSize = size == 1 ? 1 << 16 : size
        frames = Int(bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        salt = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    }
}

extension Connection {
    private static let logIndexSize = 48
    /// Bytes of the index that are mapped at a time.
    private static let logIndexStep: Int32 = 32 << 10

    /// Of a connection that has read from a database with a write-ahead log. Nil while another process writes it, and when it is
    /// damaged, as after one that died over that, until a connection makes it anew.
    ///
    /// It is read through SQLite: a descriptor of our own would give up the locks of this process when it is closed.
    public var logIndex: LogIndex? {
        var opened: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &opened) == SQLITE_OK, let file = opened,
            let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap,
            let barrier = methods.pointee.xShmBarrier
        else { return nil }
        var mapped: UnsafeMutableRawPointer?
        _ = map(file, 0, Self.logIndexStep, 0, &mapped)
        guard let mapped else { return nil }
        // It stands there twice, and is written from the second to the first.
        let first = [UInt8](UnsafeRawBufferPointer(start: mapped, count: Self.logIndexSize))
        barrier(file)
        let second = [UInt8](UnsafeRawBufferPointer(start: mapped + Self.logIndexSize, count: Self.logIndexSize))
        return first == second ? first.withUnsafeBytes { LogIndex($0) } : nil
    }
}
