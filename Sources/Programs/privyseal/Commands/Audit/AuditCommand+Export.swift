import ArgumentParser
import AuditKit

extension AuditCommand {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write entries as JSON Lines or CSV, for other programs.",
            discussion: """
                  privyseal audit export --since 2026-11-01 --out november.jsonl --config gateway.yaml
                  privyseal audit export --format csv --client shop --config gateway.yaml > shop.csv

                Without filters, all entries that are in the database are written, the oldest first.

                JSON LINES
                Each line is exactly an entry's canonical bytes. A leaf of the tree is the SHA-256 of a zero byte and \
                the line without its line end, so the root of a checkpoint can be computed from a whole log. \
                --with-index writes {"index":7,"entry":{...}} instead.

                CSV
                RFC 4180, in UTF-8, with this header:

                  \(EntryCSV.header[..<11].joined(separator: ","))
                  \(EntryCSV.header[11...].joined(separator: ","))

                Lists (products, offers) are joined by spaces, or are JSON if a value contains a space. outcome is the \
                word that --outcome finds. other is a JSON object of the members that have no column. Texts that begin \
                with = + - or @ are not escaped, and a spreadsheet may take them for formulas: import all columns as \
                text.
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case jsonl, csv
        }

        @OptionGroup var log: AuditLogOption
        @OptionGroup var filter: AuditFilterOption

        @Option(help: "The output format.")
        var format = Format.jsonl

        @Option(help: ArgumentHelp("A new file; default: standard output.", valueName: "file"), completion: .file())
        var out: String?

        @Flag(help: "With JSON Lines: write each entry with its index.")
        var withIndex = false

        func validate() throws {
            guard format == .jsonl || !withIndex else {
                throw ValidationError("--with-index is for --format jsonl; CSV has a column index.")
            }
        }

        func run() throws {
            var query = try filter.query(isLatestFirst: false)
            // The search index may lack entries, and the file would not show it.
            query.usesIndex = false
            let reader = try log.open().reader
            try ArchiveNotice.say(reader, query)
            let output = try AuditAttempt.parse { () throws(AuditSetupError) in try AuditOutput.open(out) }
            var unfit: Int?
            let missing: MissingEntries?
            do throws(AuditStoreError) {
                if format == .csv { output.write(CSV.row(EntryCSV.header)) }
                missing = try reader.search(query) { (entry) throws(AuditStoreError) in
                    guard let line = line(entry) else {
                        unfit = entry.index
                        return false
                    }
                    return output.write(line)
                }.missing
            } catch {
                output.abandon()
                throw error
            }
            if let unfit {
                output.abandon()
                throw StandardError.failure(
                    "The bytes of entry \(unfit) are not an entry, and the export would be wrong from there on: "
                        + "run privyseal audit verify.")
            }
            if missing != nil, output.failure == nil {
                output.abandon()
                try AuditAttempt.refuse(missing, reader)
            }
            try output.finish()
        }

        /// Nil if the stored bytes are not an entry.
        private func line(_ entry: StoredEntry) -> [UInt8]? {
            switch format {
            case .csv: EntryCSV.cells(entry).map(CSV.row)
            case .jsonl: EntryJSON.line(entry).map { (withIndex ? EntryJSON.indexed(entry) : $0) + "\n".utf8 }
            }
        }
    }
}
