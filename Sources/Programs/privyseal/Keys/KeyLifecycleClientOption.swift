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
        guard let address = AdminOption.address(in: configuration) else { return try await local(configuration) }
        let client = try AdminClient(address, admin)
        do {
            _ = try await client.ask(.GET, "/v1/keys", accept: "application/json")
        } catch AdminError.absent {
            return try await local(configuration)
        }
        return RemoteKeyLifecycleClient(client)
    }

    /// - Throws: `ExitCode`, after printing the error.
    func ask<Answer>(_ body: (any KeyLifecycleClient) async throws -> Answer) async throws -> Answer {
        do {
            return try await body(try await lifecycleClient())
        } catch let error as ExitCode {
            throw error
        } catch {
            throw StandardError.failure("\(error)")
        }
    }

    /// The option that selects the same gateway or register for another command.
    var gatewayOption: String {
        admin.configuration.map { "--config \($0)" } ?? admin.admin.map { "--admin \($0)" } ?? ""
    }

    private static func local(_ configuration: GatewayConfiguration) async throws -> any KeyLifecycleClient {
        LocalKeyLifecycleClient(configuration: configuration)
    }
}
