import AuditKit

/// Prints entries to standard output, a line each.
final class EntryPrinter {
    private let format: OutputOption.Format
    private let output = AuditOutput.standard

    init(_ format: OutputOption.Format) {
        self.format = format
    }

    /// False when nobody reads any more.
    var isWell: Bool { output.failure == nil }

    /// - Returns: whether to go on.
    func show(_ entry: StoredEntry) -> Bool {
        switch format {
        case .text: output.write(Array(EntryLine.text(entry).utf8))
        case .json: output.write(EntryJSON.indexed(entry))
        }
        return output.write([UInt8(ascii: "\n")])
    }

    func show(_ reader: any AuditReader, _ range: Range<Int>) throws(AuditStoreError) {
        try reader.entries(in: range) { (entry) throws(AuditStoreError) in show(entry) }
        flush()
    }

    func flush() { output.flush() }
}
