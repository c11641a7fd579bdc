import AuditLog
public import SigningKit
import Synchronization

/// All configured keys and their connections.
///
/// Keys with the same locator share one connection, and with it one login. If a key cannot be opened, its handle has
/// the error, and the other keys serve.
public final class KeyRing: Sendable {
    /// In the order of the configuration.
    public let handles: [KeyHandle]

    /// By scheme.
    private let backends: [String: Backend]
    /// All connections, in the order of their first keys.
    private let connections: [BackendConnection]
    /// Shared with the next ring, because tokens should not be opened in parallel.
    package let opening: AsyncMutex

    private typealias Backend = (type: any KeyBackend.Type, settings: PluginSettings)

    package func type(for scheme: String) -> (any KeyBackend.Type)? { backends[scheme]?.type }

    /// Opens no key; `openMissing` does.
    ///
    /// - Parameters:
    ///   - predecessor: the previous ring. Unchanged keys and connections stay open with their state, and a refused PIN
    ///     is not tried again until it is replaced. A blocked login is tried once more.
    ///   - rejected: the ring of a rejected configuration. A PIN that was refused there is not tried again either.
    public init(
        _ settings: GatewaySettings, backends: [any KeyBackend.Type], secrets: any SecretSource,
        inheriting predecessor: KeyRing? = nil, rejected: KeyRing? = nil, audit: SigningAudit? = nil
    ) {
        var byScheme: [String: Backend] = [:]
        for type in backends {
            let settings = settings.backendSettings[type.scheme] ?? PluginSettings(defaultsOf: type.settings)
            byScheme[type.scheme] = (type, settings)
        }
        self.backends = byScheme
        opening = predecessor?.opening ?? AsyncMutex()
        var connections: [BackendConnection] = []
        var handles: [KeyHandle] = []
        for account in settings.accounts {
            for key in account.keys {
                let own = key.uris.map { uri in
                    let connection = Self.connection(
                        of: uri, byScheme, settings.signers, secrets, known: connections, predecessor, rejected,
                        audit?.log)
                    if let connection, !connections.contains(where: { $0 === connection }) {
                        connections.append(connection)
                    }
                    return connection
                }
                let former = predecessor?.handles.first { $0.precedes(key, in: own) }
                handles.append(
                    KeyHandle(
                        key, issuerID: account.issuerID, isActive: key.keyID == account.activeKeyID,
                        mode: settings.verification, connections: own, after: former, audit: audit))
            }
        }
        self.connections = connections
        self.handles = handles
    }

    /// Opens closed keys, one after the other. It skips `refused` keys, so that it does not retry a refused PIN.
    ///
    /// - Returns: whether a key was opened.
    @discardableResult
    public func openMissing() async -> Bool {
        var hasOpened = false
        for handle in handles where await open(handle) { hasOpened = true }
        return hasOpened
    }

    /// Opens one key at all of its places, unless it is open or `refused` there.
    ///
    /// - Returns: whether it was opened at a place.
    @discardableResult
    public func open(_ handle: KeyHandle) async -> Bool {
        var hasOpened = false
        for replica in handle.replicas where await open(handle, at: replica) { hasOpened = true }
        return hasOpened
    }

    private func open(_ handle: KeyHandle, at replica: KeyReplica) async -> Bool {
        // Check before the mutex: an open key must not wait for a token that hangs.
        guard replica.openKey == nil else { return false }
        return await opening.pass {
            guard replica.openKey == nil else { return false }
            if case .refused = replica.state { return false }
            do throws(KeyError) {
                handle.fill(replica, with: try await find(handle, at: replica))
            } catch {
                handle.fail(replica, with: error)
            }
            return replica.openKey != nil
        }
    }

    /// Makes all open keys sign a proof of possession concurrently, at each of their places.
    ///
    /// - Parameter age: keys with a younger proof are skipped, and those whose `ProofSchedule` wants none yet. With
    ///   zero, every key signs one.
    public func prove(
        olderThan age: Duration = .zero, where isWanted: (KeyHandle) -> Bool = { _ in true }
    ) async {
        await noteHealth()
        await withTaskGroup { group in
            for handle in handles where isWanted(handle) {
                for replica in handle.replicas where replica.isProofDue(olderThan: age) {
                    group.addTask { await handle.prove(at: replica) }
                }
            }
        }
    }

    /// Waits for signatures in progress, then closes the connections.
    ///
    /// - Parameter successor: the next ring. Connections that it shares stay open.
    public func close(except successor: KeyRing? = nil) async {
        for connection in connections where successor?.connections.contains(where: { $0 === connection }) != true {
            await connection.close()
        }
    }

    /// The reports of all open backends, in the order of the configuration.
    public func report() async -> [KeyBackendReport] {
        var reports: [KeyBackendReport] = []
        for connection in connections {
            if let report = await connection.openBackend?.report() { reports.append(report) }
        }
        return reports
    }

    // MARK: Opening

    /// The connection for a place of a key: the predecessor's if it is still the same. Nil if no backend accepts the URI; opening
    /// the key then fails with the reason.
    private static func connection(
        of uri: KeyURI, _ backends: [String: Backend], _ signers: SignerCatalog?, _ secrets: any SecretSource,
        known: [BackendConnection], _ predecessor: KeyRing?, _ rejected: KeyRing?, _ audit: AuditLog?
    ) -> BackendConnection? {
        guard let backend = backends[uri.scheme], let locator = try? backend.type.address(of: uri).locator
        else { return nil }
        if let known = known.first(where: { $0.locator == locator }) { return known }
        let isSame = { (connection: BackendConnection) in
            connection.locator == locator && connection.hasSettings(backend.settings, signers)
        }
        if let connection = predecessor?.connections.first(where: isSame),
            predecessor?.needsNewConnection(connection) != true
        {
            return connection
        }
        if let connection = rejected?.connections.first(where: isSame), connection.hasRefusedLogin,
            !connection.hasBlockedLogin, !connection.hasNewSecrets
        {
            return connection
        }
        return BackendConnection(
            locator, type: backend.type, settings: backend.settings, signers: signers, secrets: secrets, audit: audit)
    }

    /// Whether to open a new connection: a login is blocked, or a refused secret has been replaced since.
    private func needsNewConnection(_ connection: BackendConnection) -> Bool {
        var isRefused = connection.hasRefusedLogin
        var isBlocked = connection.hasBlockedLogin
        for replica in handles.flatMap(\.replicas) where replica.connection === connection {
            guard case .refused(let error) = replica.state else { continue }
            isRefused = true
            if error.isBlockedLogin { isBlocked = true }
        }
        return isBlocked || (isRefused && connection.hasNewSecrets)
    }

    private func find(_ handle: KeyHandle, at replica: KeyReplica) async throws(KeyError) -> any SigningKey {
        guard let served = backends[replica.uri.scheme] else {
            let known = backends.keys.sorted().map { $0 + ":" }.joined(separator: ", ")
            throw .invalidURI("no key backend serves its scheme; the schemes are \(known)")
        }
        var selector = try served.type.address(of: replica.uri).selector
        selector.publicKey = handle.settings.publicKey
        guard let connection = replica.connection else { throw .closed }
        return try await connection.backend().key(selector)
    }

    /// Passes the health of each backend to the handles of its keys.
    func noteHealth() async {
        for connection in connections {
            guard let health = await connection.openBackend?.health() else { continue }
            for handle in handles {
                for replica in handle.replicas where replica.connection === connection {
                    handle.note(health, at: replica)
                }
            }
        }
    }
}
