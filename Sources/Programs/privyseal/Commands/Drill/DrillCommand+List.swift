import ArgumentParser
import AuditKit
import GatewayHTTP
import KeyDrills
import SigningKit
import StrictJSON

extension DrillCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the recorded drills, the latest first.")

        @OptionGroup var archive: DrillArchiveOption
        @OptionGroup var output: OutputOption

        func run() throws {
            let (records, complaints) = try archive.archive().records()
            for complaint in complaints { StandardError.print("warning: \(PlainText.of(complaint))") }
            print(output.format == .json ? Self.json(records) : Self.text(records))
        }

        private static func text(_ records: [DrillRecord]) -> String {
            guard !records.isEmpty else { return "There are no records of drills here." }
            return TextTable(
                header: ["ID", "SCENARIO", "VERDICT", "SERVED", "FAILED", "WRONG", "DEVIATIONS"],
                rows: records.map { record in
                    [
                        record.id, record.scenario.rawValue, record.verdict.rawValue, "\(record.load.served)",
                        "\(record.load.failed)", "\(record.load.wronglySigned)", "\(record.deviations.count)",
                    ].map(PlainText.of)
                }
            ).text
        }

        private static func json(_ records: [DrillRecord]) -> String {
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("drills")
                writer.array { writer in
                    for record in records {
                        writer.object { writer in
                            writer.member("id", record.id)
                            writer.member("scenario", record.scenario.rawValue)
                            writer.member("verdict", record.verdict.rawValue)
                            writer.member("begun", unescaped: record.begun.rfc3339)
                            writer.member("ended", unescaped: record.ended.rfc3339)
                        }
                    }
                }
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
