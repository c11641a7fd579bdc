import ArgumentParser
import GatewayConfiguration
import KeyDrills

struct DrillArchiveOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The gateway's configuration, which names the directory of records.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "The directory of records, in place of the configuration's drills.directory.", valueName: "path"),
        completion: .directory)
    var directory: String?

    func validate() throws {
        guard configuration != nil || directory != nil else {
            throw ValidationError("Give the directory of records with --config FILE or --directory PATH.")
        }
    }

    /// - Returns: the directory, and the configuration of the gateway; nil if only the directory is given.
    /// - Throws: `ExitCode`, after printing the error.
    func open() throws -> (archive: DrillArchive, gateway: GatewayConfiguration?) {
        let gateway = try configuration.map(ConfigurationOption.load)
        if let directory = directory ?? gateway?.drillDirectory { return (DrillArchive(directory), gateway) }
        throw StandardError.failure(
            "\(configuration ?? "The configuration") names no directory for drill records; give drills.directory there, or --directory.",
            status: 78)
    }
}
