import ArgumentParser
import AuditKit
import GatewayConfiguration
import KeyLifecycle
import Signing
import StrictJSON
import WorkloadIdentities

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Test every key with a proof signature, and show which keys are fit to sign and what needs action.",
        discussion: """
            The proof is a fixed text and a random nonce; it cannot be taken for a token or an offer.
            With an audit log, the command also checks the register of keys, of the running gateway or in the log's \
            database. It shows differences between configuration and register, and unfinished work on tokens, each \
            with the action to take. The configuration declares keys, the register holds their states; see \
            docs/key-life.md.
            With issuers, it also reads the keys of each one.
            The exit status is 0 if every key is fit to sign, every issuer has keys, and nothing needs action, 1 if not, and 78 if the \
            configuration is wrong. A proposal that waits for a second administrator is shown, and is not a fault.
            """)

    @OptionGroup var config: ConfigurationOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        let configuration = try config.load()
        let register = await KeyRegisterCheck.take(configuration, config.path)
        let keys = await KeyInventory.take(configuration, states: register.states)
        let issuers = await IssuerCheck.take(configuration)
        output.show(
            keys.members(with: register, issuers),
            text: ([keys.text] + register.sentences + issuers.sentences).joined(separator: "\n"))
        guard keys.canAllSign, register.isFine, issuers.isFine else { throw ExitCode.failure }
    }
}

/// What `privyseal check` reports on the issuers of workload identities.
struct IssuerCheck {
    let members: [JSONMembers]
    let sentences: [String]
    /// Whether every issuer has keys.
    let isFine: Bool

    /// Reads the keys of all issuers.
    static func take(_ configuration: GatewayConfiguration) async -> IssuerCheck {
        let issuers = IssuerDirectory(configuration.issuers.compactMap(IssuerSettings.init))
        let results = await issuers.readKeys()
        return IssuerCheck(
            members: results.map { issuer, keys in
                switch keys {
                case .success(let keys): ["name": issuer.name, "keys": keys]
                case .failure(let error): ["name": issuer.name, "reason": "\(error)"]
                }
            },
            sentences: results.map { issuer, keys in
                switch keys {
                case .success(let keys):
                    "The issuer \(issuer.name) has \(keys.count == 1 ? "the key" : "the keys") "
                        + PlainText.of(keys.joined(separator: ", ")) + "."
                case .failure(let error):
                    "The keys of the issuer \(issuer.name) (\(issuer.origin)) could not be read: "
                        + PlainText.of("\(error)") + "."
                }
            },
            isFine: results.allSatisfy { (try? $0.keys.get()) != nil })
    }
}

/// What `privyseal check` reports on the register of keys.
struct KeyRegisterCheck {
    let document: JSONMembers
    let sentences: [String]
    /// Whether no administrator has to act.
    let isFine: Bool
    /// By key ID; nil if there is no register.
    var states: [String: KeyLifecycleState]?

    static func take(_ configuration: GatewayConfiguration, _ path: String) async -> KeyRegisterCheck {
        guard configuration.audit != nil else {
            return KeyRegisterCheck(document: ["status": "none"], sentences: [], isFine: true)
        }
        do {
            let client = try await AdminOption.parse(["--config", path]).lifecycleClient(configuration)
            let overview = try await client.overview()
            let warnings = KeyWarnings(overview)
            let lives = overview.accounts.flatMap(\.keys).map(\.life)
            return KeyRegisterCheck(
                document: [
                    "status": "seen", "ceremonies": warnings.jobs, "differences": warnings.differences,
                    "proposals": warnings.proposals,
                ], sentences: warnings.sentences, isFine: !warnings.isUrgent,
                states: Dictionary(lives.map { ($0.keyID, $0.state) }) { first, _ in first })
        } catch {
            return KeyRegisterCheck(
                document: ["status": "unseen", "reason": "\(error)"],
                sentences: ["The register of keys could not be read: \(error)"], isFine: false, states: [:])
        }
    }
}
