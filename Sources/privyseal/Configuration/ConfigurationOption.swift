import ArgumentParser
import Foundation
import GatewayConfiguration
import SigningGateway
import SigningKit

/// `--config FILE`, for every command that needs the configuration.
struct ConfigurationOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration: one YAML file.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var path: String

    /// Reads the file; its warnings go to standard error, and so do its errors before the command ends with status 78
    /// (EX_CONFIG of sysexits.h).
    func load() throws -> GatewayConfiguration { try Self.load(path) }

    /// - Parameter mayBePipe: a command may wait for `--config <(…)`; a gateway that serves must not wait.
    static func read(_ path: String, mayBePipe: Bool) throws(ConfigurationError) -> GatewayConfiguration {
        try GatewayConfiguration.load(
            path: path, environment: ProcessInfo.processInfo.environment,
            features: BuiltIns.features().map(\.descriptor.id), backends: BuiltIns.keyBackends,
            mayBePipe: mayBePipe)
    }

    static func load(_ path: String) throws -> GatewayConfiguration {
        do {
            let configuration = try read(path, mayBePipe: true)
            for warning in configuration.warnings { StandardError.print("warning: \(warning)") }
            return configuration
        } catch {
            throw StandardError.failure(error.description, status: 78)
        }
    }
}
