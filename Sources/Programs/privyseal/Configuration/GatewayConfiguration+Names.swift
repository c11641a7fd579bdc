import GatewayConfiguration
import Signing
import SigningKit

extension GatewayConfiguration {
    /// For an error about a name that is not configured: the names that are. An answer over HTTP does not tell them.
    func namesInstead(of error: GatewayError) -> String? {
        switch error {
        case .unknownService(let name): Self.sentence("services", name, services.map(\.name))
        case .unknownApp(let app): Self.sentence("apps", app, accounts.flatMap(\.apps).map(\.bundleID))
        case .unknownFeature(let feature, let app): Self.sentence("features", feature, features(of: app))
        case .unknownKey(let keyID, let app): Self.sentence("keys", keyID, keyIDs(ofApp: app))
        default: nil
        }
    }

    private static func sentence(_ kind: String, _ name: String, _ known: [String]) -> String? {
        guard !known.isEmpty else { return nil }
        let choices = Suggestion.choices(kind, for: name, among: known)
        return choices.prefix(1).uppercased() + choices.dropFirst() + "."
    }

    private func features(of app: String) -> [String] {
        accounts.flatMap(\.apps).first { $0.bundleID.hasSameBytes(as: app) }?.features ?? []
    }

    private func keyIDs(ofApp app: String) -> [String] {
        accounts.first { $0.apps.contains { $0.bundleID.hasSameBytes(as: app) } }?.keys.map(\.keyID) ?? []
    }
}
