import ArgumentParser
import GatewayConfiguration
import GatewayHTTP
import NIOHTTP1
import SigningKit
import StrictJSON

/// How to reach the admin listener of a running gateway.
struct AdminOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The gateway's configuration, which has the admin listener's address.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configuration: String?

    @Option(
        help: ArgumentHelp(
            "The admin listener's address: unix:/path, or a URL such as http://127.0.0.1:8081.", valueName: "address"))
    var admin: String?

    @Option(
        help: ArgumentHelp(
            "A file with an administrator's token. On a Unix socket, root and the gateway's own user need none.",
            valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("The client certificate, in PEM.", valueName: "file"), completion: .file())
    var certificate: String?

    @Option(help: ArgumentHelp("The client certificate's private key, in PEM.", valueName: "file"), completion: .file())
    var certificateKey: String?

    @Option(
        help: ArgumentHelp("CA certificates for the gateway, in PEM; default: the system's.", valueName: "file"),
        completion: .file())
    var trustRoots: String?

    func validate() throws {
        guard (configuration == nil) != (admin == nil) else {
            throw ValidationError(
                "Give the gateway with --config FILE or --admin ADDRESS\(admin == nil ? "" : ", not with both").")
        }
        guard admin.map({ address in ["unix:", "http://", "https://"].contains { address.hasPrefix($0) } }) ?? true
        else {
            throw ValidationError("--admin must be unix:/path, or an http:// or https:// URL.")
        }
        guard (certificate == nil) == (certificateKey == nil) else {
            throw ValidationError("Give --certificate and --certificate-key together.")
        }
    }

    func ask(_ method: HTTPMethod, _ path: String, body: [UInt8]? = nil, accept: String?) async throws -> String {
        try await AdminClient(try address(), self).ask(method, path, body: body, accept: accept)
    }

    /// Prints an answer that the gateway has as text and as JSON.
    func show(_ method: HTTPMethod, _ path: String, _ output: OutputOption) async throws {
        print(try await ask(method, path, accept: output.format == .text ? "text/plain" : "application/json"))
    }

    func address() throws -> String {
        if let admin { return admin }
        guard let configuration else { throw ExitCode.validationFailure }
        guard let address = Self.address(in: try ConfigurationOption.load(configuration)) else {
            throw AdminError.unreachable("\(configuration) has no listeners.admin; add it and restart the gateway")
        }
        return address
    }

    /// The admin listener's address in the form that `AdminClient` takes; nil if the configuration has none.
    static func address(in configuration: GatewayConfiguration) -> String? {
        guard let listener = configuration.adminListener else { return nil }
        switch listener.address {
        case .unixSocket: return "\(listener.address)"
        case .tcp: return (listener.tls == nil ? "http://" : "https://") + "\(listener.address)"
        }
    }
}

extension AdminOption {
    /// Nil with `--admin`. Load it once for each command, because loading prints the configuration's warnings.
    func loadConfiguration() throws -> GatewayConfiguration? { try configuration.map(ConfigurationOption.load) }

    /// A client of the running gateway. With `--config`, and if no process listens on the admin listener's address, it
    /// is a client of the register itself.
    ///
    /// - Parameter loaded: what `loadConfiguration()` returned, if the command has called it.
    /// - Throws: `AdminError`, or `ExitCode` after printing the error.
    func lifecycleClient(_ loaded: GatewayConfiguration? = nil) async throws -> any KeyLifecycleClient {
        guard let configuration = try loaded ?? loadConfiguration() else {
            return RemoteKeyLifecycleClient(try AdminClient(try address(), self))
        }
        let local = try LocalKeyLifecycleClient(configuration)
        guard let address = Self.address(in: configuration) else { return local }
        let client = try AdminClient(address, self)
        do { _ = try await client.ask(.GET, "/v1/keys", accept: "application/json") } catch AdminError.absent {
            return local
        }
        return RemoteKeyLifecycleClient(client)
    }

    /// The signers of the running gateway; nil if none runs.
    func signers(_ configuration: GatewayConfiguration) async throws -> SignersStatus? {
        guard let address = Self.address(in: configuration) else { return nil }
        let answer: String
        do {
            answer = try await AdminClient(address, self).ask(.GET, "/v1/signers", accept: "application/json")
        } catch AdminError.absent { return nil }
        return try JSONDocument(parsing: Array(answer.utf8)).root.decode()
    }

    /// The option that selects the same gateway or register for another command.
    var gatewayOption: String { configuration.map { "--config \($0)" } ?? admin.map { "--admin \($0)" } ?? "" }
}
