import AuditKit

/// Tells those who look for entries that the first of them are no longer in the database.
enum ArchiveNotice {
    /// Says nothing when what is looked for is younger than that.
    static func say(_ reader: any AuditReader, _ query: AuditQuery) throws(AuditStoreError) {
        if let first = try reader.archived(before: query) { say(first) }
    }

    /// - Parameter first: where the log begins.
    static func say(_ first: Int) {
        StandardError.print("privyseal: Entries 0 to \(first - 1) were archived, and are not among these.")
    }
}
