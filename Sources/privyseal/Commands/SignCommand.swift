import ArgumentParser
import Logging
import SigningGateway
import SigningKit

struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Make one signature, and print the same JSON as over HTTP.",
        discussion: """
            The request is JSON from --input, or is put together from NAME=VALUE:

              privyseal sign promotional-offer --config gateway.yaml --app com.example.app \\
                  productId=com.example.monthly offerIdentifier=winback transactionId=1000011859217
              privyseal sign introductory-offer-eligibility --config gateway.yaml --app com.example.app \\
                  productId=com.example.monthly allowIntroductoryOffer=true transactionId=1000011859217
              privyseal sign advanced-commerce-api --config gateway.yaml --app com.example.app request=@request.json
              echo '{"productId":"…","offerIdentifier":"…"}' | \\
                  privyseal sign legacy-promotional-offer --config gateway.yaml --app com.example.app --input -
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

    @Option(help: ArgumentHelp("The ID of the key; the account's active key when none is named.", valueName: "key-id"))
    var key: String?

    @Option(help: ArgumentHelp("The request as JSON, from a file or - for standard input.", valueName: "file"))
    var input: String?

    private static let featureIDs = BuiltIns.features().map(\.descriptor.id)

    func validate() throws {
        guard input == nil || members.isEmpty else {
            throw ValidationError("Give the request by --input or by NAME=VALUE, not by both.")
        }
    }

    func run() async throws {
        LogSetup.bootstrapQuietly()
        let gateway = Gateway(try config.load())
        do {
            let answer = try await sign(with: gateway)
            await gateway.ring.close()
            print(answer)
        } catch {
            await gateway.ring.close()
            throw StandardError.failure("\(error)")
        }
    }

    private func sign(with gateway: Gateway) async throws -> String {
        let route = try gateway.dispatcher.route(app: app, feature: feature, keyID: key)
        let descriptor = gateway.dispatcher.features.first { $0.id == feature }
        let body = try RequestInput(file: input, members: members, fields: descriptor?.fields ?? []).body()
        await gateway.ring.open(route.key)
        return String(decoding: try await gateway.dispatcher.sign(body, along: route), as: UTF8.self)
    }
}
