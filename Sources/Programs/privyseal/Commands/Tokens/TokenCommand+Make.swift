import ArgumentParser
import AuditKit
import AuditLog
import Foundation
import GatewayHTTP
import KeyLifecycle
import Signing
import SigningKit
import StrictJSON

extension TokenCommand {
    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "make",
            abstract: "Make one token for a service of Apple, and print the same JSON as over HTTP.",
            discussion: """
                NAME is one of services in the configuration. What the token may choose is given as NAME=VALUE; scopes and \
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

        @Argument(help: ArgumentHelp("What the token chooses.", valueName: "member=value"))
        var members: [String] = []

        @OptionGroup var config: ConfigurationOption

        @Flag(help: "Print the header Authorization for curl, and nothing else.")
        var header = false

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let configuration = try config.load()
            let keyStates = KeyStateCache()
            let audit = try AuditComposition.open(configuration, isServing: false, keyStates: keyStates)
            let gateway = ConfigurationSnapshot(configuration, audit: audit.map { SigningAudit($0, keyStates) })
            gateway.beginServing()
            let request = RequestIdentity(id: "command-\(UUID().uuidString.lowercased())")
            do {
                let answer = try await token(by: gateway, request)
                await close(gateway)
                print(
                    header
                        ? try Self.header(answer, profile: profile(in: gateway))
                        : String(decoding: answer, as: UTF8.self))
            } catch {
                if let error = error as? GatewayError { await record(error, request, by: gateway) }
                await close(gateway)
                throw error
            }
        }

        private func token(by gateway: ConfigurationSnapshot, _ request: RequestIdentity) async throws -> [UInt8] {
            let route = try gateway.dispatcher.resolve(for: .operator, service: service, request: request)
            let body = try body()
            await gateway.ring.open(route.key)
            return try await gateway.dispatcher.token(body, for: route)
        }

        private func profile(in gateway: ConfigurationSnapshot) -> String {
            gateway.dispatcher.known(service: service)?.profile ?? ""
        }

        private func record(_ error: GatewayError, _ request: RequestIdentity, by gateway: ConfigurationSnapshot) async
        {
            let reason = RefusalReason(error)
            let known = gateway.dispatcher.known(service: service)
            try? await gateway.dispatcher.audit?.record(
                .refusal(
                    client: Client.operator.name, app: known?.path, feature: known?.profile, reason: reason.type,
                    status: reason.status, requestID: request.id))
        }

        private func close(_ gateway: ConfigurationSnapshot) async {
            await gateway.ring.close()
            await gateway.dispatcher.audit?.close()
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
