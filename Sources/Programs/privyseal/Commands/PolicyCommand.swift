import ArgumentParser
import GatewayConfiguration
import Signing
import SigningKit
import StrictJSON

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Test what a client may do.",
        subcommands: [Test.self])

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Show whether a client may request a signature, and which line of the configuration decides.",
            discussion: """
                  privyseal policy test --config gateway.yaml --client shop \\
                    --app com.example.app \\
                    --feature promotional-offer --product com.example.monthly --offer winback

                  privyseal policy test --config gateway.yaml --client notifier --service push
                  privyseal policy test --config gateway.yaml --client builds \\
                    --service connect \\
                    --scope "GET /v1/apps" --lifetime 1200

                Name everything that the request will name. Nothing is signed and no key is opened. The exit status is 0 \
                for allowed, 1 for denied or not configured, and 78 if the configuration is wrong.
                """)

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var output: OutputOption

        @Option(help: ArgumentHelp("The client's name.", valueName: "name"))
        var client: String

        @Option(help: ArgumentHelp("The app's bundle ID.", valueName: "bundle-id"))
        var app: String?

        @Option(help: ArgumentHelp("The feature.", valueName: "feature"))
        var feature: String?

        @Option(
            help: ArgumentHelp("The service whose token is requested, in place of app and feature.", valueName: "name"))
        var service: String?

        @Option(help: ArgumentHelp("The product that the request names.", valueName: "product-id"))
        var product: String?

        @Option(help: ArgumentHelp("The offer that the request names.", valueName: "offer-id"))
        var offer: String?

        @Option(help: ArgumentHelp("The key that the request names.", valueName: "key-id"))
        var key: String?

        @Option(help: ArgumentHelp("A scope that the request chooses, such as \"GET /v1/apps\".", valueName: "scope"))
        var scope: [String] = []

        @Option(help: ArgumentHelp("An origin that the request chooses.", valueName: "origin"))
        var origin: [String] = []

        @Option(help: ArgumentHelp("The subject that the request chooses.", valueName: "subject"))
        var subject: String?

        @Option(help: ArgumentHelp("The lifetime that the request chooses.", valueName: "seconds"))
        var lifetime: Int64?

        func validate() throws {
            let isForApp = app != nil && feature != nil
            guard isForApp != (service != nil), isForApp || (app == nil && feature == nil) else {
                throw ValidationError("Give --app and --feature, or --service.")
            }
            let isOfService = !scope.isEmpty || !origin.isEmpty || subject != nil || lifetime != nil
            guard service != nil || !isOfService else {
                throw ValidationError("--scope, --origin, --subject and --lifetime are for a --service.")
            }
            guard service == nil || product == nil && offer == nil && key == nil else {
                throw ValidationError("--product, --offer and --key are for an --app.")
            }
        }

        func run() throws {
            let configuration = try config.load()
            LogSetup.bootstrapQuietly()
            let snapshot = ConfigurationSnapshot(configuration)
            guard let client = snapshot.clients.client(named: client) else {
                let known = snapshot.clients.clients.map(\.name).joined(separator: ", ")
                throw StandardError.failure(
                    "There is no client \"\(client)\" in \(config.path); it has \(known.isEmpty ? "none" : "\(known)").",
                    status: ExitCode.validationFailure.rawValue)
            }
            let decision =
                if let service {
                    snapshot.dispatcher.explain(
                        client: client, service: service,
                        choosing: OfferSubject(
                            scopes: scope, origins: origin, subject: subject, lifetime: lifetime))
                } else {
                    snapshot.dispatcher.explain(
                        client: client, app: app ?? "", feature: feature ?? "", keyID: key, product: product,
                        offer: offer)
                }
            let (origin, denial): (String, Denial?) =
                switch decision {
                case .success(let rule): (rule, nil)
                case .failure(let denial): (denial.origin, denial)
                }
            let warning = denial == nil ? warning(in: configuration) : nil
            let members: JSONMembers = [
                "allowed": denial == nil, "decidedBy": origin, "reason": denial?.description, "warning": warning,
            ]
            let verdict = denial.map { "denied: \($0) Decided at \(origin)." } ?? "allowed by \(origin)\(omissions)"
            output.show(members, text: verdict + (warning.map { "\nbut: \($0)" } ?? ""))
            if denial != nil || warning != nil { throw ExitCode.failure }
        }

        /// What the tested request does not name. A rule may forbid it for a request that does.
        private var omissions: String {
            if service != nil {
                let choosesNothing = scope.isEmpty && origin.isEmpty && subject == nil && lifetime == nil
                return choosesNothing ? ", for a request that chooses nothing" : ""
            }
            let missing = [product == nil ? "product" : nil, offer == nil ? "offer" : nil].compactMap(\.self)
            return missing.isEmpty ? "" : ", for a request that names no \(missing.joined(separator: " and no "))"
        }

        /// A rule may allow an app, a feature or a service that is not configured; the answer would be 404.
        private func warning(in configuration: GatewayConfiguration) -> String? {
            unconfigured(in: configuration).map { error in
                ["\(error)", configuration.namesInstead(of: error), "So the answer would be 404."].compactMap(\.self)
                    .joined(separator: " ")
            }
        }

        private func unconfigured(in configuration: GatewayConfiguration) -> GatewayError? {
            if let service {
                return configuration.services.contains { $0.name == service } ? nil : .unknownService(service)
            }
            let (app, feature) = (app ?? "", feature ?? "")
            let apps = configuration.accounts.flatMap(\.apps)
            guard let found = apps.first(where: { $0.bundleID.hasSameBytes(as: app) }) else { return .unknownApp(app) }
            return found.features.contains(feature) ? nil : .unknownFeature(feature, app: app)
        }
    }
}
