extension AuditReader {
    /// The log's first index if archived entries may match the query; nil if none can, assuming a clock never set back.
    public func archived(before query: AuditQuery) throws(AuditStoreError) -> Int? {
        let first = try firstIndex()
        guard first > query.indexes.lowerBound else { return nil }
        var since = query.since
        try entries(in: first..<first + 1) { entry in
            if let time = EntryFields(entry.body)?.time, let begin = since, begin < time { since = nil }
            return false
        }
        return since == nil ? first : nil
    }
}
