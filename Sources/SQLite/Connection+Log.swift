internal import CSQLite

/// How far copying the write-ahead log into the database got.
public struct LogProgress: Hashable, Sendable {
    /// In the log; nil where there is none, or where another connection was copying.
    public let pages: Int?
    /// Of them, copied.
    public let copied: Int
}

extension Connection {
    /// Keeps `logPages` up to date. It takes the place of `wal_autocheckpoint`.
    public func countLogPages() {
        let count: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
            context, _, _, pages in
            if let context { Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages) }
            return SQLITE_OK
        }
        // Not retained: the hook ends with the connection.
        sqlite3_wal_hook(handle, count, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Copies what it can from the write-ahead log into the database without waiting for anybody
    /// (`SQLITE_CHECKPOINT_PASSIVE`).
    public func copyLog() throws(SQLiteError) -> LogProgress {
        var pages: Int32 = -1
        var copied: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
        if code & 0xff != SQLITE_BUSY { try check(code) }
        return LogProgress(pages: pages < 0 ? nil : Int(pages), copied: max(0, Int(copied)))
    }

    /// Copies all of the write-ahead log into the database and lets it start anew (`SQLITE_CHECKPOINT_TRUNCATE`). Waits for
    /// others as `wait(milliseconds:)` says.
    ///
    /// - Returns: false when somebody still reads from it.
    public func emptyLog() throws(SQLiteError) -> Bool {
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xff == SQLITE_BUSY { return false }
        try check(code)
        return true
    }

    /// Whether the last connection that is closed leaves the write-ahead log as it is; else it copies it into the database and
    /// removes it.
    public func keepLogOnClose(_ keeps: Bool) { _ = privyseal_sqlite_keep_log_on_close(handle, keeps ? 1 : 0) }

    /// Whether the file that is open is not the one at its path any more.
    public var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }
}
