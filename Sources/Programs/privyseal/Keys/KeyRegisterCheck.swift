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

    func writeMember(to writer: inout JSONWriter) {
        writer.name("register")
        writer.object { writer in
            switch self {
            case .none: writer.member("status", "none")
            case .seen(let attention):
                writer.member("status", "seen")
                attention.writeMembers(to: &writer)
            case .unseen(let reason):
                writer.member("status", "unseen")
                writer.member("reason", reason)
            }
        }
    }
}
