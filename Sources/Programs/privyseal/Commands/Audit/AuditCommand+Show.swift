import ArgumentParser
import AuditKit
import StrictJSON

extension AuditCommand {
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print one entry in full.",
            discussion: """
                  privyseal audit show 41234 --config gateway.yaml

                --raw prints only the canonical bytes, without a line end. The tree's leaf is the SHA-256 of a zero \
                byte and these bytes.
                """)

        @Argument(help: ArgumentHelp("The entry's index, from 0.", valueName: "index"))
        var index: Int

        @OptionGroup var log: AuditLogOption
        @OptionGroup var output: OutputOption

        @Flag(help: "Print only the canonical bytes.")
        var raw = false

        func run() throws {
            let reader = try log.open().reader
            let entry = try find(in: reader)
            guard let entry else {
                throw StandardError.failure(
                    try absence(from: reader))
            }
            let printed: [UInt8]
            if raw {
                printed = entry.body
            } else if output.format == .json {
                printed = EntryJSON.indexed(entry) + "\n".utf8
            } else {
                printed = Array((EntryDetail.text(entry) + "\n").utf8)
            }
            let standard = AuditOutput.standard
            standard.write(printed)
            try standard.finish()
        }

        private func find(in reader: any AuditReader) throws(AuditStoreError) -> StoredEntry? {
            guard index >= 0, index < Int.max else { return nil }
            var found: StoredEntry?
            try reader.entries(in: index..<index + 1) { entry in
                found = entry
                return false
            }
            return found
        }

        private func absence(from reader: any AuditReader) throws(AuditStoreError) -> String {
            let (first, end) = (try reader.firstIndex(), try reader.storedEnd())
            if first < end, (0..<first).contains(index) {
                return "Entry \(index) was archived; the log holds \(first) to \(end - 1)."
            }
            guard !(first..<max(first, end)).contains(index) else {
                return "Entry \(index) is missing, although later ones exist: run privyseal audit verify."
            }
            return end > first
                ? "There is no entry \(index); the log holds \(first) to \(end - 1)." : "The log holds no entries."
        }
    }
}
