import ArgumentParser
import AuditKit
import GatewayConfiguration
import KeyLifecycle
import Signing
import StrictJSON

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
