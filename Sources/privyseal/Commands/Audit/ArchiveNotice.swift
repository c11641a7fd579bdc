import AuditKit

/// Tells those who look for entries that the first of them are no longer in the database.
enum ArchiveNotice {
    /// Says nothing when what is looked for is younger than that.
    static func say(_ reader: any AuditReader, _ query: AuditQuery) throws(AuditStoreError) {
        let first = try reader.firstIndex()
        guard first > 0 else { return }
        var begin = query.since
        try reader.entries(in: first..<first + 1) { entry in
            if let time = EntryFields(entry.body)?.time, let since = begin, since < time { begin = nil }
            return false
        }
        guard begin == nil else { return }
        StandardError.print("privyseal: Entries 0 to \(first - 1) were archived, and are not among these.")
    }
}
