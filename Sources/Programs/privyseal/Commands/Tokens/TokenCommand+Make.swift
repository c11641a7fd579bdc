import ArgumentParser
import Signing
import SigningKit
import StrictJSON

extension TokenCommand {
    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "make",
            abstract: "Make one token for a service of Apple, and print the same JSON as over HTTP.",
            discussion: """
                NAME is one of services in the configuration. What a request may choose is given as NAME=VALUE; scopes and \
                origins may be given several times.

                  privyseal token connect --config gateway.yaml "scopes=GET /v1/apps"

                  curl -H "$(privyseal token connect --config gateway.yaml --header)" \\
                    https://api.appstoreconnect.apple.com/v1/apps

                Each run makes a new token. A running gateway gives the same token to all callers where Apple wants that; \
                for APNs, ask the gateway: POST /v1/services/NAME/token.

                PROFILES AND WHAT A REQUEST MAY CHOOSE
                \(profiles)

                EXIT STATUS
                  0   made
                  1   not made; standard error says why
                  64  the command line is wrong
                  78  the configuration is wrong
                """)

        /// Each profile with its choices, one per line.
        private static let profiles = BuiltIns.profiles.map { profile in
            let choices = profile.choices.map(\.rawValue).joined(separator: ", ")
            return "  \(profile.id): \(choices.isEmpty ? "nothing" : choices)"
        }.joined(separator: "\n")

        @Argument(help: ArgumentHelp("The service.", valueName: "name"))
        var service: String

        @Argument(help: ArgumentHelp("What the request chooses.", valueName: "member=value"))
        var members: [String] = []

        @OptionGroup var config: ConfigurationOption

        @Flag(help: "Print the header Authorization for curl, and nothing else.")
        var header = false

        func run() async throws {
            let gateway = try CommandGateway.open(config)
            let known = gateway.snapshot.dispatcher.known(service: service)
            let answer = try await gateway.run {
                let answer = try await token(by: gateway)
                return header
                    ? try Self.header(answer, profile: known?.profile ?? "") : String(decoding: answer, as: UTF8.self)
            } names: {
                (known?.path, known?.profile, nil)
            }
            print(answer)
        }

        private func token(by gateway: CommandGateway) async throws -> [UInt8] {
            let snapshot = gateway.snapshot
            let route = try snapshot.dispatcher.resolve(for: .operator, service: service, request: gateway.request)
            let body = try body()
            await snapshot.ring.open(route.key)
            return try await snapshot.dispatcher.token(body, for: route)
        }

        /// App Attest wants the token alone (Apple: "Assessing fraud risk").
        private static func header(_ answer: [UInt8], profile: String) throws -> String {
            guard let members = try? JSONDocument(parsing: answer).root.anyObject(), members["url"] == nil,
                let token = try? members["token"]?.string()
            else { throw CommandError("The answer is a URL, and no header: leave out --header.") }
            return "Authorization: \(profile == "app-attest-receipt" ? "" : "Bearer ")\(token)"
        }

        private func body() throws(CommandError) -> [UInt8] {
            var values: [(name: String, texts: [String])] = []
            for member in members {
                guard let equals = member.firstIndex(of: "="), equals != member.startIndex else {
                    throw CommandError("The request cannot be used: \"\(member)\" is not NAME=VALUE.")
                }
                let (name, text) = (String(member[..<equals]), String(member[member.index(after: equals)...]))
                if let known = values.firstIndex(where: { $0.name == name && Self.lists.contains(name) }) {
                    values[known].texts.append(text)
                } else {
                    values.append((name, [text]))
                }
            }
            var writer = JSONWriter()
            writer.object { writer in
                for (name, texts) in values {
                    writer.name(escaping: name)
                    if Self.lists.contains(name) {
                        writer.array { writer in for text in texts { writer.string(text) } }
                    } else if name == ServiceChoice.lifetime.rawValue, let seconds = Int64(texts[0]) {
                        writer.integer(seconds)
                    } else {
                        writer.string(texts[0])
                    }
                }
            }
            return writer.bytes
        }

        private static let lists = [ServiceChoice.scopes, .origins].map(\.rawValue)
    }
}
