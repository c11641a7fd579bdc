import ArgumentParser
import AuditKit
import GatewayConfiguration
import GatewayHTTP
import KeyDrills
import KeyLifecycle
import SigningKit
import StrictJSON

extension DrillCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the recorded drills, the latest first.",
            discussion: """
                  privyseal drill list --config gateway.yaml

                In a fleet, the list has the drills of all gateways. The record of a drill is on the machine of its gateway.
                """)

        @OptionGroup var archive: DrillArchiveOption
        @OptionGroup var output: OutputOption

        func run() throws {
            let (archive, gateway) = try archive.open()
            let (records, complaints) = archive.records()
            for complaint in complaints { StandardError.print("warning: \(PlainText.of(complaint))") }
            let drills = drills(records, archive, gateway).sorted { ($0.begun, $0.id) > ($1.begun, $1.id) }
            output.show(["drills": drills.map(Self.members)], text: Self.text(drills, in: archive.directory))
        }

        /// Those of this machine, and those that only the log of the fleet has. A drill that the log does not have has an
        /// empty `gateway`.
        private func drills(
            _ records: [DrillRecord], _ archive: DrillArchive, _ gateway: GatewayConfiguration?
        ) -> [FleetDrill] {
            var shared: [FleetDrill] = []
            do { shared = try gateway.map(FleetDrills.results) ?? [] } catch {
                StandardError.print("warning: the drills of the other gateways are missing: \(error)")
            }
            let own = records.compactMap { record -> FleetDrill? in
                guard let digest = try? archive.base64Digest(of: record.id) else { return nil }
                guard !shared.contains(where: { $0.id == record.id && $0.digest == digest }) else { return nil }
                return FleetDrill(record, digest: digest)
            }
            return own + shared
        }

        private static func members(_ drill: FleetDrill) -> JSONMembers {
            [
                "id": drill.id, "scenario": drill.scenario, "verdict": drill.verdict, "begun": drill.begun,
                "ended": drill.ended, "gateway": drill.gateway.isEmpty ? nil : drill.gateway,
            ]
        }

        private static func text(_ drills: [FleetDrill], in directory: String) -> String {
            guard !drills.isEmpty else { return "There are no records of drills in \(directory)." }
            let isShared = drills.contains { !$0.gateway.isEmpty }
            return TextTable(
                header: ["ID", "SCENARIO", "VERDICT", "SERVED", "FAILED", "WRONG", "DEVIATIONS"]
                    + (isShared ? ["GATEWAY"] : []),
                rows: drills.map { drill in
                    let cells = [
                        drill.id, drill.scenario, drill.verdict, "\(drill.served)", "\(drill.failed)",
                        "\(drill.wronglySigned)", "\(drill.deviations)",
                    ]
                    return (cells + (isShared ? [drill.gateway.isEmpty ? "-" : drill.gateway] : [])).map(PlainText.of)
                }
            ).text
        }
    }
}
