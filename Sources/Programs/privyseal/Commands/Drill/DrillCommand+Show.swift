import ArgumentParser
import AuditKit
import GatewayConfiguration
import KeyDrills
import KeyLifecycle
import StrictJSON

extension DrillCommand {
    struct Show: ParsableCommand {
        enum Format: String, CaseIterable, ExpressibleByArgument {
            case text, json, html
        }

        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one record.",
            discussion: """
                  privyseal drill show 20261121T120000123Z-compromise --config gateway.yaml
                  privyseal drill show last --format html --config gateway.yaml > drill.html
                """)

        @Argument(help: ArgumentHelp("The drill's ID, or last.", valueName: "id"))
        var id = "last"

        @OptionGroup var archive: DrillArchiveOption

        @Option(help: "The output format.")
        var format = Format.text

        func run() throws {
            let (archive, gateway) = try archive.open()
            let record = try record(on: archive, gateway)
            switch format {
            case .text: print(DrillCommand.plain(DrillText.text(record)))
            case .json: print(JSONText.string(record))
            case .html:
                let digest = try archive.digest(of: record.id)
                print(DrillPage(record, predecessor: archive.predecessor(of: record), digest: digest).html)
            }
        }

        private func record(on archive: DrillArchive, _ gateway: GatewayConfiguration?) throws -> DrillRecord {
            do { return try DrillCommand.record(id, on: archive) } catch {
                let shared = try? gateway.map(FleetDrills.results)
                guard let other = shared?.last(where: { $0.id == id }) else { throw error }
                throw DrillError(
                    "The drill \(id) \(other.verdict). Its record is in the directory of drills on the machine of the gateway "
                        + "\(PlainText.of(other.gateway)), with the SHA-256 \(PlainText.of(other.digest)).")
            }
        }
    }

    /// - Parameter id: a drill's ID, or `last`.
    static func record(_ id: String, on archive: DrillArchive) throws -> DrillRecord {
        guard id == "last" else { return try archive.record(id) }
        guard let record = archive.records().records.first else {
            throw DrillError("There are no records of drills in \(archive.directory).")
        }
        return record
    }
}
