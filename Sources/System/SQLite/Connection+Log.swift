import CSQLite

extension Connection {
    /// Keeps `logPages` up to date. It replaces `wal_autocheckpoint`.
    public func countLogPages() {
        let count: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32 = {
            context, _, _, pages in
            if let context { Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages) }
            return SQLITE_OK
        }
        // Not retained, because the hook ends with the connection.
        sqlite3_wal_hook(handle, count, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Pages that this connection has written (`SQLITE_DBSTATUS_CACHE_WRITE`).
    public var pagesWritten: Int {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        return Int(current)
    }

    /// Runs as much of a checkpoint as possible without waiting for other connections (`SQLITE_CHECKPOINT_PASSIVE`).
    ///
    /// - Returns: the pages of the write-ahead log that are in the database now; 0 if another connection runs a
    ///   checkpoint.
    @discardableResult
    public func passiveCheckpoint() throws(SQLiteError) -> Int {
        var copied: Int32 = -1
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, &copied)
        if code & 0xff != SQLITE_BUSY { try check(code) }
        return max(0, Int(copied))
    }

    /// A full checkpoint that truncates the log (`SQLITE_CHECKPOINT_TRUNCATE`). Waits as set by `wait(milliseconds:)`.
    ///
    /// - Returns: false if another connection still uses the log.
    public func truncateLog() throws(SQLiteError) -> Bool {
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xff == SQLITE_BUSY { return false }
        try check(code)
        return true
    }

    /// Whether the last close keeps the write-ahead log; otherwise it runs a checkpoint and removes the log.
    public func keepLogOnClose(_ keeps: Bool) { _ = privyseal_sqlite_keep_log_on_close(handle, keeps ? 1 : 0) }

    /// Whether the open file is no longer the one at its path.
    public var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }
}
