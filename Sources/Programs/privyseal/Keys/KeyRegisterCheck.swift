import ArgumentParser
import GatewayConfiguration
import StrictJSON

/// What `privyseal check` reports on the register of keys.
enum KeyRegisterCheck {
    /// There is no audit log, and so no register.
    case none
    case seen(KeyWarnings)
    /// The register could not be read, for this reason.
    case unseen(String)

    static func take(_ configuration: GatewayConfiguration, at path: String) async -> KeyRegisterCheck {
        guard configuration.audit != nil else { return .none }
        do {
            let lifecycleClient = try await KeyLifecycleClientOption.lifecycleClient(
                configuration, try AdminOption.parse(["--config", path]))
            return .seen(KeyWarnings(try await lifecycleClient.overview()))
        } catch {
            return .unseen("\(error)")
        }
    }

    var isFine: Bool {
        switch self {
        case .none: true
        case .seen(let attention): !attention.isUrgent
        case .unseen: false
        }
    }

    var sentences: [String] {
        switch self {
        case .none: []
        case .seen(let attention): attention.sentences
        case .unseen(let reason): ["The register of keys could not be read: \(reason)"]
        }
    }
}

extension KeyRegisterCheck: Encodable {
    func encode(to encoder: any Encoder) throws {
        let members: JSONMembers =
            switch self {
            case .none: ["status": "none"]
            case .seen(let warnings):
                [
                    "status": "seen", "ceremonies": warnings.jobs, "differences": warnings.differences,
                    "proposals": warnings.proposals,
                ]
            case .unseen(let reason): ["status": "unseen", "reason": reason]
            }
        try members.encode(to: encoder)
    }
}
