import ArgumentParser
import Foundation
import Logging
import Signing
import SigningKit
import StrictJSON

struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Make one signature, and print the same JSON as over HTTP.",
        discussion: """
            Give the request as JSON with --input, or its members as NAME=VALUE. NAME=@FILE \
            reads a member that is an object from a file.

              privyseal sign promotional-offer --config gateway.yaml \\
                --app com.example.app productId=monthly offerIdentifier=winback

              echo '{"productId":"monthly","offerIdentifier":"winback"}' |
                privyseal sign legacy-promotional-offer --config gateway.yaml \\
                  --app com.example.app --input -

            FEATURES AND THEIR MEMBERS
            \(BuiltIns.features().map(\.descriptor).helpText)

            EXIT STATUS
              0   signed
              1   not signed; standard error says why
              64  the command line is wrong
              78  the configuration is wrong
            """)

    @Argument(
        help: ArgumentHelp("The feature: \(SignCommand.featureIDs.joined(separator: ", ")).", valueName: "feature"),
        completion: .list(SignCommand.featureIDs))
    var feature: String

    @Argument(help: ArgumentHelp("Members of the request.", valueName: "name=value"))
    var members: [String] = []

    @OptionGroup var config: ConfigurationOption

    @Option(help: ArgumentHelp("The app's bundle ID.", valueName: "bundle-id"))
    var app: String

    @Option(help: ArgumentHelp("The key's ID; default: the account's active key.", valueName: "key-id"))
    var key: String?

    @Option(help: ArgumentHelp("The request as JSON, from a file or - for standard input.", valueName: "file"))
    var input: String?

    private static let featureIDs = BuiltIns.features().map(\.descriptor.id)

    func validate() throws {
        guard input == nil || members.isEmpty else {
            throw ValidationError("Give the request by --input or by NAME=VALUE, not by both.")
        }
        if let member = members.first(where: { ($0.firstIndex(of: "=") ?? $0.startIndex) == $0.startIndex }) {
            throw ValidationError("\"\(member)\" is not NAME=VALUE.")
        }
    }

    func run() async throws {
        let gateway = try CommandGateway.open(config)
        let answer = try await gateway.run {
            try await sign(with: gateway)
        } names: {
            gateway.snapshot.dispatcher.known(app: app, feature: feature, keyID: key)
        }
        print(answer)
    }

    private func sign(with gateway: CommandGateway) async throws -> String {
        let snapshot = gateway.snapshot
        let route = try snapshot.dispatcher.resolve(
            for: .operator, app: app, feature: feature, keyID: key, request: gateway.request)
        let descriptor = snapshot.dispatcher.features.first { $0.id == feature }
        let body = try body(descriptor?.fields ?? [])
        await snapshot.ring.open(route.key)
        return String(decoding: try await snapshot.dispatcher.sign(body, for: route), as: UTF8.self)
    }

    // MARK: The request

    /// The request, from a file, from standard input or from `NAME=VALUE` arguments.
    private func body(_ fields: [FeatureField]) throws -> [UInt8] {
        if let input { return try Self.read(input) }
        var values: [(name: String, json: [UInt8])] = []
        for member in members {
            guard let equals = member.firstIndex(of: "=") else { continue }
            let name = String(member[..<equals])
            values.append((name, try json(String(member[member.index(after: equals)...]), for: name, fields)))
        }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, json) in values {
                writer.name(escaping: name)
                writer.raw(json)
            }
        }
        return writer.bytes
    }

    /// Encodes a value by the member's kind. An unknown member becomes a string, which the feature refuses.
    private func json(_ value: String, for name: String, _ fields: [FeatureField]) throws -> [UInt8] {
        switch fields.first(where: { $0.name == name })?.kind.json {
        case .boolean where value == "true" || value == "false": return Array(value.utf8)
        case .number where Int64(value) != nil: return Array(value.utf8)
        case .object: return value.hasPrefix("@") ? try Self.read(String(value.dropFirst())) : Array(value.utf8)
        default:
            var writer = JSONWriter()
            writer.string(value)
            return writer.bytes
        }
    }

    private static func read(_ path: String) throws(CommandError) -> [UInt8] {
        try InputFile.contents(ofArgument: path, limit: InputFile.Limit.request)
    }
}
