public import GatewayConfiguration
import Glibc
import Logging
public import ServiceLifecycle

/// Checks every second whether a listener's TLS files have changed, and loads the new ones. If only one of them has
/// been replaced yet, they do not fit together, and the watcher tries again.
public final class TLSWatcher: Service {
    private let listeners: [(name: ListenerName, identity: TLSIdentity)]
    private let registry: ConnectionRegistry
    private let logger = Logger(label: "privyseal.tls")

    public init(_ listeners: [(name: ListenerName, identity: TLSIdentity)], registry: ConnectionRegistry) {
        self.listeners = listeners
        self.registry = registry
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var complaints: [ListenerName: TLSError] = [:]
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                for (name, identity) in self.listeners where identity.isOutdated {
                    complaints[name] = self.renew(name, identity, known: complaints[name])
                }
            }
        }
    }

    /// - Parameter known: the previous error. Only a repeated error is logged, because files are replaced one by one.
    /// - Returns: the current error.
    private func renew(_ name: ListenerName, _ identity: TLSIdentity, known: TLSError?) -> TLSError? {
        do throws(TLSError) {
            let hasNewTrust = try identity.renewal().commit(name, registry)
            logger.info(
                "The listener uses its new TLS files",
                metadata: ["listener": "\(name.rawValue)", "newTrustRoots": "\(hasNewTrust)"])
            return nil
        } catch {
            if error == known, !identity.hasComplained(of: error) {
                logger.error(
                    "The listener's TLS files have changed but cannot be used; the previous ones stay in use: \(error)",
                    metadata: ["listener": "\(name.rawValue)"])
            }
            return error
        }
    }
}
