import ArgumentParser
import AuditKit
import GatewayHTTP
import SigningKit
import StrictJSON

extension AuditCommand {
    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count signatures and refusals by client, key, feature and outcome over time.",
            discussion: """
                  privyseal audit stats --since 30d --config gateway.yaml
                  privyseal audit stats --day 2026-11-21 --by hour --format csv --config gateway.yaml
                  privyseal audit stats --client shop --by month --config gateway.yaml

                Hours, days and months are in UTC.
                """)

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case text, json, csv
        }

        @OptionGroup var log: AuditLogOption
        @OptionGroup var filter: AuditFilterOption

        @Option(help: "The period of each count: an hour, a day or a month.")
        var by = AuditInterval.day

        @Option(help: "The output format.")
        var format = Format.text

        func run() throws {
            let query = try filter.query(isLatestFirst: false)
            let reader = try log.open().reader
            try ArchiveNotice.say(reader, query)
            let counted = try reader.tallies(query)
            let sums = by.sums(counted.tallies)
            let standard = AuditOutput.standard
            switch format {
            case .text: standard.write(Array((table(sums) + "\n").utf8))
            case .json: standard.write(json(sums) + "\n".utf8)
            case .csv: for row in csv(sums) { standard.write(CSV.row(row)) }
            }
            try standard.finish()
            if let sentence = counted.coverage.countSentence { StandardError.print("privyseal: \(sentence)") }
            try AuditAttempt.refuse(counted.coverage.missing, reader)
        }

        private func table(_ sums: [AuditTally]) -> String {
            let rows = sums.map { tally in
                [
                    by.label(of: tally.begin), tally.client ?? "-", tally.key ?? "-", tally.feature ?? "-",
                    tally.outcome, "\(tally.count)",
                ].map(PlainText.of)
            }
            return TextTable(
                header: [by.rawValue.uppercased(), "CLIENT", "KEY", "FEATURE", "OUTCOME", "COUNT"], rows: rows
            ).text
        }

        private func csv(_ sums: [AuditTally]) -> [[String]] {
            [["begin", "client", "key", "feature", "outcome", "count"]]
                + sums.map { tally in
                    [
                        moment(tally), tally.client ?? "", tally.key ?? "", tally.feature ?? "", tally.outcome,
                        "\(tally.count)",
                    ]
                }
        }

        private func json(_ sums: [AuditTally]) -> [UInt8] {
            var writer = JSONWriter(capacity: 4096)
            writer.object { writer in
                writer.member("by", by.rawValue)
                writer.name("counts")
                writer.array { writer in for tally in sums { write(tally, &writer) } }
            }
            return writer.bytes
        }

        private func write(_ tally: AuditTally, _ writer: inout JSONWriter) {
            writer.object { writer in
                writer.member("begin", moment(tally))
                if let client = tally.client { writer.member("client", client) }
                if let key = tally.key { writer.member("key", key) }
                if let feature = tally.feature { writer.member("feature", feature) }
                writer.member("outcome", tally.outcome)
                writer.member("count", tally.count)
            }
        }

        private func moment(_ tally: AuditTally) -> String { tally.begin.text }
    }
}
