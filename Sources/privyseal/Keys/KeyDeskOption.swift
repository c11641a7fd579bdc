import ArgumentParser
import GatewayConfiguration
import NIOHTTP1

/// Who is asked about the life of keys: the running gateway, or with `--config` the register itself while none runs.
struct KeyDeskOption: ParsableArguments {
    @OptionGroup var admin: AdminOption

    /// - Throws: `AdminError`, or a status whose error is already said.
    func desk() async throws -> any KeyDesk {
        if let address = admin.admin { return RemoteKeyDesk(try AdminClient(address, admin)) }
        guard let path = admin.configuration else { throw ExitCode.validationFailure }
        return try await Self.desk(try ConfigurationOption.load(path), admin)
    }

    /// The gateway that runs by this configuration; the register itself when nobody listens where its admin listener would
    /// be.
    static func desk(_ configuration: GatewayConfiguration, _ admin: AdminOption) async throws -> any KeyDesk {
        guard configuration.audit != nil else { throw NoRegister() }
        guard let address = AdminOption.address(in: configuration) else { return try await local(configuration) }
        let client = try AdminClient(address, admin)
        do {
            _ = try await client.ask(.GET, "/v1/keys", accept: "application/json")
        } catch AdminError.absent {
            return try await local(configuration)
        }
        return RemoteKeyDesk(client)
    }

    /// What is asked of a desk.
    ///
    /// - Throws: what went wrong, already said; the status is 1.
    func ask<Answer>(_ body: (any KeyDesk) async throws -> Answer) async throws -> Answer {
        do {
            return try await body(try await desk())
        } catch let error as ExitCode {
            throw error
        } catch {
            throw StandardError.failure("\(error)")
        }
    }

    /// How to say the same place to another command.
    var whereabouts: String {
        admin.configuration.map { "--config \($0)" } ?? admin.admin.map { "--admin \($0)" } ?? ""
    }

    private static func local(_ configuration: GatewayConfiguration) async throws -> any KeyDesk {
        LocalKeyDesk(configuration: configuration)
    }
}
