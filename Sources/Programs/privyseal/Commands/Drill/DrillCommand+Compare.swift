import ArgumentParser
import KeyDrills
import StrictJSON

extension DrillCommand {
    struct Compare: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compare",
            abstract: "Compare a drill with an earlier one of the same scenario: times, failed requests, deviations.",
            discussion: """
                Without a second ID, the command uses the previous drill of the same scenario.

                  privyseal drill compare --config gateway.yaml
                  privyseal drill compare 20261121T120000123Z-compromise \\
                    20260821T090000456Z-compromise \\
                    --config gateway.yaml
                """)

        @Argument(help: ArgumentHelp("The drill's ID, or last.", valueName: "id"))
        var id = "last"

        @Argument(help: ArgumentHelp("The ID of the earlier drill.", valueName: "earlier"))
        var earlier: String?

        @OptionGroup var archive: DrillArchiveOption
        @OptionGroup var output: OutputOption

        func run() throws {
            let (archive, _) = try archive.open()
            let later = try DrillCommand.record(id, on: archive)
            guard let earlier = try earlier.map({ try archive.record($0) }) ?? archive.predecessor(of: later) else {
                throw DrillError("\(later.id) is the first drill of its scenario; there is none to compare it with.")
            }
            guard earlier.scenario == later.scenario else {
                throw DrillError(
                    "\(earlier.id) is of another scenario than \(later.id); only drills of one scenario can be compared."
                )
            }
            let comparison = DrillComparison(earlier: earlier, later: later)
            output.show(comparison, text: DrillCommand.plain(DrillText.text(comparison)))
        }
    }
}
