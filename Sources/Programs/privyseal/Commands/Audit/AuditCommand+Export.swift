import ArgumentParser
import AuditKit
import GatewayHTTP
import SigningKit
import StrictJSON

extension AuditCommand {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write entries as JSON Lines or CSV, for other programs.",
            discussion: """
                  privyseal audit export --since 2026-11-01 \\
                    --out november.jsonl --config gateway.yaml
                  privyseal audit export --format csv --client shop \\
                    --config gateway.yaml > shop.csv

                Without filters, all entries of the log that are in the database are written, the oldest first. With \
                --all-logs, the entries of all logs are in the order of their times. JSON Lines then need --with-index, \
                which adds a member "log" in front, and CSV has a column log in front.

                JSON LINES
                Each line is exactly an entry's canonical bytes. A leaf of the tree is the SHA-256 of a zero byte and \
                the line without its line end, so the root of a checkpoint can be computed from a whole log. \
                --with-index writes {"index":7,"entry":{...}} instead.

                CSV
                RFC 4180, in UTF-8, with this header in one line:

                  \(EntryCSV.header[..<10].joined(separator: ",")),
                  \(EntryCSV.header[10..<17].joined(separator: ",")),
                  \(EntryCSV.header[17...].joined(separator: ","))

                Lists (products, offers) are joined by spaces, or are JSON if a value contains a space. outcome is the \
                word that --outcome finds. other is a JSON object of the members that have no column. Texts that begin \
                with = + - or @ are not escaped, and a spreadsheet may take them for formulas: import all columns as \
                text.
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case jsonl, csv
        }

        @OptionGroup var log: AuditLogOption
        @OptionGroup var all: AllLogsOption
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
            guard !all.allLogs || format == .csv || withIndex else {
                throw ValidationError(
                    "--all-logs needs --with-index or --format csv: plain lines do not name their log.")
            }
        }

        func run() throws {
            var query = try filter.query(isLatestFirst: false)
            // The search index may lack entries, and the file would not show it.
            query.usesIndex = false
            let logs = try SearchedLogs(log, all, for: query)
            let output = try StandardError.attempt(64) { try AuditOutput.open(out) }
            var unfit: Int?
            do {
                if format == .csv { output.write(CSV.row((all.allLogs ? ["log"] : []) + EntryCSV.header)) }
                let result = try logs.search(query) { log, entry in
                    guard let line = line(entry, of: log) else {
                        unfit = entry.index
                        return false
                    }
                    return output.write(line)
                }
                if let unfit {
                    throw CommandError(
                        "The bytes of entry \(unfit) are not an entry, and the export would be wrong from there on: "
                            + "run privyseal audit verify.")
                }
                if output.failure == nil { try result.refuseMissing() }
            } catch {
                output.abandon()
                throw error
            }
            try output.finish()
        }

        /// Nil if the stored bytes are not an entry.
        private func line(_ entry: StoredEntry, of log: String?) -> [UInt8]? {
            switch format {
            case .csv: EntryCSV.cells(entry).map { CSV.row((log.map { [$0] } ?? []) + $0) }
            case .jsonl: EntryJSON.line(entry).map { (withIndex ? EntryJSON.indexed(entry, log: log) : $0) + "\n".utf8 }
            }
        }
    }

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count signatures and refusals by client, key, feature and outcome over time.",
            discussion: """
                  privyseal audit stats --since 30d --config gateway.yaml
                  privyseal audit stats --day 2026-11-21 --by hour \\
                    --format csv --config gateway.yaml
                  privyseal audit stats --client shop --by month --config gateway.yaml

                Hours, days and months are in UTC. With --all-logs, the counts of all logs in the database are added.
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case text, json, csv
        }

        @OptionGroup var log: AuditLogOption
        @OptionGroup var all: AllLogsOption
        @OptionGroup var filter: AuditFilterOption

        @Option(help: "The period of each count: an hour, a day or a month.")
        var by = AuditInterval.day

        @Option(help: "The output format.")
        var format = Format.text

        func run() throws {
            let query = try filter.query(isLatestFirst: false)
            let counted = try SearchedLogs(log, all, for: query).tallies(query)
            let sums = by.sums(counted.tallies)
            let standard = AuditOutput.standard
            switch format {
            case .text: standard.write(Array((table(sums) + "\n").utf8))
            case .json: standard.write(JSONText.encode(document(sums)) + "\n".utf8)
            case .csv: for row in csv(sums) { standard.write(CSV.row(row)) }
            }
            try standard.finish()
            counted.result.tell(\.countSentence)
            try counted.result.refuseMissing()
        }

        private func table(_ sums: [AuditTally]) -> String {
            let header = [by.rawValue.uppercased(), "CLIENT", "KEY", "FEATURE", "OUTCOME", "COUNT"]
            return TextTable(
                header: header, rows: sums.map { cells($0, by.label(of: $0.begin), absent: "-").map(PlainText.of) }
            ).text
        }

        private func csv(_ sums: [AuditTally]) -> [[String]] {
            [["begin", "client", "key", "feature", "outcome", "count"]]
                + sums.map { cells($0, $0.begin.text, absent: "") }
        }

        private func cells(_ tally: AuditTally, _ begin: String, absent: String) -> [String] {
            [begin] + [tally.client, tally.key, tally.feature].map { $0 ?? absent } + [tally.outcome, "\(tally.count)"]
        }

        private func document(_ sums: [AuditTally]) -> JSONMembers {
            [
                "by": by.rawValue,
                "counts": sums.map { tally -> JSONMembers in
                    [
                        "begin": tally.begin.text, "client": tally.client, "key": tally.key, "feature": tally.feature,
                        "outcome": tally.outcome, "count": tally.count,
                    ]
                },
            ]
        }
    }
}
