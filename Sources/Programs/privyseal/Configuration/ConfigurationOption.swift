import ArgumentParser
import Foundation
import GatewayConfiguration
import Signing
import SigningKit

struct ConfigurationOption: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration: one YAML file.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var path: String

    /// Prints warnings and errors. An error ends the command with status 78 (EX_CONFIG of sysexits.h).
    func load() throws -> GatewayConfiguration { try Self.load(path) }

    /// - Parameter mayBePipe: a command may wait for `--config <(…)`; a serving gateway must not wait.
    static func read(_ path: String, mayBePipe: Bool) throws(ConfigurationError) -> GatewayConfiguration {
        let features = BuiltIns.features()
        return try GatewayConfiguration.load(
            path: path, environment: ProcessInfo.processInfo.environment, features: features.map(\.descriptor.id),
            featureSettings: features.flatMap(\.settings), backends: BuiltIns.keyBackends, profiles: BuiltIns.profiles,
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
