import AuditKit

/// Prints entries to standard output, one per line.
final class EntryPrinter {
    private let format: OutputOption.Format
    private let output = AuditOutput.standard

    init(_ format: OutputOption.Format) {
        self.format = format
    }

    /// False after a write error.
    var isWell: Bool { output.failure == nil }
    /// The entries that `show` had to print and the log lacks.
    private(set) var missing: MissingEntries?

    /// - Returns: whether to continue.
    func show(_ entry: StoredEntry) -> Bool {
        switch format {
        case .text: output.write(Array(EntryLine.text(entry).utf8))
        case .json: output.write(EntryJSON.indexed(entry))
        }
        return output.write([UInt8(ascii: "\n")])
    }

    func show(_ reader: any AuditReader, _ range: Range<Int>) throws(AuditStoreError) {
        var rest = range
        try reader.entries(in: range) { (entry) throws(AuditStoreError) in
            // In a damaged database, entries may be in any order.
            if rest.contains(entry.index) {
                missing.add(rest.lowerBound..<entry.index)
                rest = entry.index + 1..<rest.upperBound
            }
            return show(entry)
        }
        if isWell { missing.add(rest) }
        output.flush()
    }

    func finish() throws { try output.finish() }
}
