import ArgumentParser
import GatewayConfiguration
import KeyDrills

struct DrillArchiveOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The gateway's configuration, which says where records are kept.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "Where records are kept, in place of the configuration's drills.directory.", valueName: "path"),
        completion: .directory)
    var directory: String?

    func validate() throws {
        guard configuration != nil || directory != nil else {
            throw ValidationError("Say where records are kept: by --config FILE or by --directory PATH.")
        }
    }

    /// - Throws: `ExitCode`, after printing the error.
    func archive() throws -> DrillArchive {
        if let directory { return DrillArchive(directory) }
        guard let configuration else { throw ExitCode.validationFailure }
        guard let directory = try ConfigurationOption.load(configuration).drillDirectory else {
            throw StandardError.failure(
                "\(configuration) says nowhere where drill records are kept; give drills.directory there, or --directory.",
                status: 78)
        }
        return DrillArchive(directory)
    }
}
