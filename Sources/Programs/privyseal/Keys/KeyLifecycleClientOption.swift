import ArgumentParser
import GatewayConfiguration
import NIOHTTP1

/// Selects the running gateway, or with `--config` the register itself while none runs.
struct KeyLifecycleClientOption: ParsableArguments {
    @OptionGroup var admin: AdminOption

    /// - Throws: `AdminError`, or `ExitCode` after printing the error.
    func lifecycleClient() async throws -> any KeyLifecycleClient {
        if let address = admin.admin { return RemoteKeyLifecycleClient(try AdminClient(address, admin)) }
        guard let path = admin.configuration else { throw ExitCode.validationFailure }
        return try await Self.lifecycleClient(try ConfigurationOption.load(path), admin)
    }

    /// A client of the gateway, or of the register if no process listens on the admin listener's address.
    static func lifecycleClient(_ configuration: GatewayConfiguration, _ admin: AdminOption) async throws
        -> any KeyLifecycleClient
    {
        guard configuration.audit != nil else { throw NoRegister() }
        let local = LocalKeyLifecycleClient(configuration: configuration)
        guard let address = AdminOption.address(in: configuration) else { return local }
        let client = try AdminClient(address, admin)
        do {
            _ = try await client.ask(.GET, "/v1/keys", accept: "application/json")
        } catch AdminError.absent {
            return local
        }
        return RemoteKeyLifecycleClient(client)
    }

    /// The option that selects the same gateway or register for another command.
    var gatewayOption: String {
        admin.configuration.map { "--config \($0)" } ?? admin.admin.map { "--admin \($0)" } ?? ""
    }
}
