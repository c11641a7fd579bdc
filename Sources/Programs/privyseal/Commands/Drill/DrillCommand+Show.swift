import ArgumentParser
import KeyDrills
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
                  privyseal drill show 20261121T120000Z-compromise --config gateway.yaml
                  privyseal drill show last --format html --config gateway.yaml > drill.html
                """)

        @Argument(help: ArgumentHelp("The drill's ID, or last.", valueName: "id"))
        var id = "last"

        @OptionGroup var archive: DrillArchiveOption

        @Option(help: "The output format.")
        var format = Format.text

        func run() throws {
            let archive = try archive.archive()
            let record = try DrillCommand.record(id, on: archive)
            switch format {
            case .text: print(DrillCommand.plain(DrillText.text(record)))
            case .json: print(JSONText.string(record))
            case .html:
                let digest = try archive.digest(of: record.id)
                print(DrillPage(record, predecessor: archive.predecessor(of: record), digest: digest).html)
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
