import ArgumentParser
import GatewayConfiguration
import KeyDrills

extension DrillCommand {
    struct Share: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "share",
            abstract: "Record the result of an earlier drill in the log of the fleet.",
            discussion: """
                  privyseal drill share 20261121T120000123Z-compromise --config gateway.yaml

                In a fleet, drill run does this itself. The command is for drills from before the gateway joined the fleet, and \
                for those whose result could not be recorded.
                """)

        @Argument(help: ArgumentHelp("The drill's ID, or last.", valueName: "id"))
        var id = "last"

        @OptionGroup var archive: DrillArchiveOption

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let (archive, gateway) = try archive.open()
            guard let gateway, gateway.fleet != nil else {
                throw StandardError.failure(
                    "Give the configuration of a gateway that belongs to a fleet with --config FILE: only the gateways of a "
                        + "fleet share the results of drills.", status: 64)
            }
            let record = try DrillCommand.record(id, on: archive)
            try await FleetDrills.record(record, digest: try archive.base64Digest(of: record.id), in: gateway)
            print("The result of the drill \(record.id) is recorded in the log of the fleet.")
        }
    }
}
