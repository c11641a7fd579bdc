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
            let drills = records.map { record -> JSONMembers in
                [
                    "id": record.id, "scenario": record.scenario, "verdict": record.verdict, "begun": record.begun,
                    "ended": record.ended,
                ]
            }
            output.show(["drills": drills], text: Self.text(records))
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
    }
}
