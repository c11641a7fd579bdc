import ArgumentParser
import AuditKit
import StrictJSON

extension AuditCommand {
    struct Search: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Find entries by time, client, app, product, offer, key, outcome or request ID.",
            discussion: """
                An entry must match every given option. Texts are compared byte by byte, without wildcards. The latest \
                entries come first. The lines have the format of privyseal audit tail.

                  privyseal audit search --client shop --since 24h --config gateway.yaml
                  privyseal audit search --product com.example.monthly --day 2026-11-21 \\
                    --config gateway.yaml
                  privyseal audit search --request-id 7f3d2c --format json --config gateway.yaml
                  privyseal audit search --outcome rate-limited --count --config gateway.yaml

                The search index is not trusted: the command reads each entry that the index names from the log and \
                compares it. It cannot find entries that the index omits. Standard error says for how many entries the \
                index answered; if that matters, search a verified copy without its index file.
                """)

        @OptionGroup var log: AuditLogOption
        @OptionGroup var filter: AuditFilterOption
        @OptionGroup var output: OutputOption

        @Option(help: ArgumentHelp("The maximum number of entries; 0 for all.", valueName: "count"))
        var limit = 100

        @Flag(help: "Begin with the oldest.")
        var oldestFirst = false

        @Flag(help: "Print only the number of entries; --limit has no effect.")
        var count = false

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
        }

        func run() throws {
            let query = try filter.query(isLatestFirst: !oldestFirst)
            let reader = try log.open().reader
            try ArchiveNotice.say(reader, query)
            if count { try printCount(query, reader) } else { try printEntries(query, reader) }
        }

        private func printCount(_ query: AuditQuery, _ reader: any AuditReader) throws {
            var count = 0
            let coverage = try reader.search(query) { _ in
                count += 1
                return true
            }
            try AuditOutput.print(output.format == .json ? json(count, coverage) : "\(count)")
            say(coverage)
            try AuditAttempt.refuse(coverage.missing, reader)
        }

        private func json(_ count: Int, _ coverage: SearchCoverage) -> String {
            #"{"count":\#(count),"index":{"answeredFor":\#(coverage.byIndex),"named":\#(coverage.foundByIndex)}}"#
        }

        private func say(_ coverage: SearchCoverage) {
            guard let sentence = coverage.sentence else { return }
            StandardError.print("privyseal: \(sentence)")
        }

        private func printEntries(_ query: AuditQuery, _ reader: any AuditReader) throws {
            let printer = EntryPrinter(output.format)
            var (shown, more) = (0, 0)
            let coverage = try reader.search(query) { entry in
                guard limit > 0, shown == limit else {
                    shown += 1
                    return printer.show(entry)
                }
                more += 1
                return more < Self.countLimit
            }
            try printer.finish()
            if shown == 0 { StandardError.print("privyseal: No entry matches.") }
            if more > 0 {
                StandardError.print(
                    "privyseal: \(more < Self.countLimit ? "\(more)" : "\(Self.countLimit) or") more match; --limit 0 shows all, --count counts them."
                )
            }
            say(coverage)
            try AuditAttempt.refuse(coverage.missing, reader)
        }

        /// The most unprinted entries that are counted; counting all takes as long as printing them.
        private static let countLimit = 10_000
    }
}
