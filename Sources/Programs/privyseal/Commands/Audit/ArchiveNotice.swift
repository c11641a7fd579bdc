import AuditKit

/// Warns that the first entries are no longer in the database.
enum ArchiveNotice {
    /// Prints nothing if the query is for later entries only.
    static func say(_ reader: any AuditReader, _ query: AuditQuery) throws(AuditStoreError) {
        if let first = try reader.archived(before: query) { say(first) }
    }

    /// - Parameter first: the first entry in the database.
    static func say(_ first: Int) {
        StandardError.print("privyseal: Entries 0 to \(first - 1) were archived and are not included.")
    }
}
