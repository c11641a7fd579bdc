import ArgumentParser
import Crypto
import Foundation
import Glibc
import KeyDrills
import NIOHTTP1
import Signing
import SigningKit
import StrictJSON
import Synchronization

/// A gateway with its own keys, token, clients and audit log in a temporary directory.
final class TemporaryGateway: Sendable {
    private struct State {
        var configuration: TemporaryConfiguration
        var child: ChildProcess?
        var unplugged: String?
    }

    static let activeKey = "DRILLKEY01"
    static let stagedKey = "DRILLKEY02"
    static let issuerID = "0d411100-0000-4000-8000-000000000001"
    static let bundleID = "com.example.drill"
    private static let secondIssuerID = "0d411100-0000-4000-8000-000000000002"
    private static let secondBundleID = "com.example.drill.two"

    let directory: String
    let tokens: TemporaryTokens
    let token: TemporaryTokens.Token
    /// The token of the client that sends the load.
    let clientToken: String
    private let state: Mutex<State>

    var configurationPath: String { "\(directory)/gateway.yaml" }
    private var publicAddress: String { "unix:\(directory)/public.sock" }

    // MARK: Creation

    /// Creates tokens and keys, starts the gateway, waits until it is ready, and declares the staged key.
    static func start() async throws -> TemporaryGateway {
        let directory = try makeDirectory()
        var started: TemporaryGateway?
        do {
            let gateway = try await make(in: directory)
            started = gateway
            try await gateway.launch()
            try await gateway.declare(gateway.staged)
            return gateway
        } catch {
            await started?.end()
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
    }

    private static func makeDirectory() throws -> String {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/privyseal-drill-XXXXXX".utf8CString)
        guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
            throw DrillError("No directory can be made for the drill: \(String(cString: strerror(errno))).")
        }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // unix(7): a socket's path has at most 107 bytes.
        guard path.utf8.count + "/public.sock".utf8.count <= 107 else {
            try? FileManager.default.removeItem(atPath: path)
            throw DrillError("\(path) is too long for a socket in it; set TMPDIR to a shorter path.")
        }
        return path
    }

    private static func make(in directory: String) async throws -> TemporaryGateway {
        let tokens = try TemporaryTokens(in: "\(directory)/softhsm")
        let token = try await tokens.makeToken("drill")
        let keys = try await [tokens.makeKey(activeKey, on: token), tokens.makeKey(stagedKey, on: token)]
        let clients = [("drill", false), ("first-officer", true), ("second-officer", true)].map {
            name, isAdministrator in
            (name: name, token: ClientToken.mint(), isAdministrator: isAdministrator)
        }
        for client in clients {
            try DurableWrite.create("\(directory)/\(client.name).token", client.token.text, mode: 0o600)
        }
        let configuration = TemporaryConfiguration(
            directory: directory,
            clients: clients.map { .init(name: $0.name, digest: $0.token.digest, isAdministrator: $0.isAdministrator) },
            accounts: [.init(issuerID: issuerID, bundleID: bundleID, hasDualControl: false, keys: [keys[0]])])
        return TemporaryGateway(directory, tokens, token, clients[0].token.text, configuration, staged: keys[1])
    }

    private let staged: TemporaryConfiguration.Key

    private init(
        _ directory: String, _ tokens: TemporaryTokens, _ token: TemporaryTokens.Token, _ clientToken: String,
        _ configuration: TemporaryConfiguration, staged: TemporaryConfiguration.Key
    ) {
        (self.directory, self.tokens, self.token) = (directory, tokens, token)
        (self.clientToken, self.staged) = (clientToken, staged)
        state = Mutex(State(configuration: configuration))
    }

    // MARK: Running

    private func launch() async throws {
        try writeConfiguration()
        let child = try ChildProcess(
            ["serve", "--config", configurationPath], environment: ["SOFTHSM2_CONF": tokens.configurationPath],
            log: "\(directory)/gateway.log")
        state.withLock { $0.child = child }
        let target = try target(connections: 1)
        let isReady = await becomesReady(child, target)
        await target.close()
        guard isReady else {
            let tail = child.output.split(separator: "\n").suffix(8).joined(separator: "\n")
            throw DrillError("The throw-away gateway did not get ready:\n\(tail)")
        }
    }

    private func target(connections: Int) throws -> LoadTarget {
        guard let target = LoadTarget(publicAddress, token: clientToken, tls: nil, connections: connections) else {
            throw DrillError("\(publicAddress) is no address.")
        }
        return target
    }

    /// The environment of a scenario, with the gateway's own administrator. The caller closes its target.
    func environment(_ conditions: DrillConditions) throws -> DrillEnvironment {
        // The client that may request signatures, on the admin listener.
        let (admin, outsider) = (try adminClient(), try adminClient("drill"))
        return DrillEnvironment(
            conditions, issuerID: Self.issuerID, bundleID: Self.bundleID, replacement: Self.stagedKey, admin: admin,
            outsider: outsider, throwAway: self, target: try target(connections: conditions.load.connections))
    }

    private func becomesReady(_ child: ChildProcess, _ target: LoadTarget) async -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while !Task.isCancelled, child.isRunning, ContinuousClock.now < end {
            if (try? await target.get("/readyz").status) == 200 { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func writeConfiguration() throws {
        let yaml = state.withLock { $0.configuration.yaml }
        try Data(yaml.utf8).write(to: URL(filePath: configurationPath), options: [.atomic])
    }

    private func adminClient(_ name: String? = nil) throws -> AdminClient {
        let address = "unix:\(directory)/admin.sock"
        let token = name.map { ["--token-file", "\(directory)/\($0).token"] } ?? []
        return try AdminClient(address, try AdminOption.parse(["--admin", address] + token))
    }

    func administrators() throws -> (first: RemoteKeyLifecycleClient, second: RemoteKeyLifecycleClient) {
        (
            RemoteKeyLifecycleClient(try adminClient("first-officer")),
            RemoteKeyLifecycleClient(try adminClient("second-officer"))
        )
    }

    /// - Throws: `AdminError.refused` with the gateway's reason, after restoring the previous configuration.
    func reconfigure(_ change: (inout TemporaryConfiguration) -> Void) async throws {
        let before = state.withLock { state in
            defer { change(&state.configuration) }
            return state.configuration
        }
        do {
            try writeConfiguration()
            _ = try await adminClient().ask(.POST, "/v1/reload", accept: nil)
        } catch {
            state.withLock { $0.configuration = before }
            try writeConfiguration()
            throw error
        }
    }

    func declare(_ key: TemporaryConfiguration.Key) async throws {
        try await reconfigure { $0.accounts[0].keys.append(key) }
    }

    // MARK: Faults

    /// Moves the token's directory away, as if a person had removed the token.
    func removeToken() throws {
        let away = "\(directory)/unplugged"
        try FileManager.default.moveItem(atPath: token.directory, toPath: away)
        state.withLock { $0.unplugged = away }
    }

    func returnToken() throws {
        guard let away = state.withLock({ $0.unplugged }) else { return }
        try FileManager.default.moveItem(atPath: away, toPath: token.directory)
        state.withLock { $0.unplugged = nil }
    }

    /// A key on the token that is declared with another key's fingerprint.
    func makeOtherKey() async throws -> TemporaryConfiguration.Key {
        let made = try await tokens.makeKey("DRILLWRNG1", on: token)
        return .init(keyID: made.keyID, uri: made.uri, fingerprint: staged.fingerprint)
    }

    /// A private key on the token with the public key of another pair, whose fingerprint is declared.
    func makeMismatchedKey() async throws -> TemporaryConfiguration.Key {
        let made = try await tokens.makeKey("DRILLWRNG2", on: token)
        let pinned = P256.Signing.PrivateKey().publicKey
        try await tokens.replacePublicKey(made.keyID, with: pinned, on: token)
        return .init(keyID: made.keyID, uri: made.uri, fingerprint: PublicKeyFingerprint(of: pinned))
    }

    /// Replaces the staged key on the token with another one of the same name.
    func replaceStagedKey() async throws {
        try await tokens.removeKey(Self.stagedKey, from: token)
        _ = try await tokens.makeKey(Self.stagedKey, on: token)
    }

    /// Declares a staged key, and removes it from the token.
    func declareVanishingKey() async throws -> String {
        let key = try await tokens.makeKey("DRILLMISS1", on: token)
        try await declare(key)
        try await tokens.removeKey(key.keyID, from: token)
        return key.keyID
    }

    /// The declaration of a key that was never on the token.
    func makeNoKey() -> TemporaryConfiguration.Key {
        .init(keyID: "DRILLMISS2", uri: tokens.uri(token, object: "DRILLMISS2"), fingerprint: staged.fingerprint)
    }

    /// Adds an account with dual control.
    func declareDualControl() async throws -> (active: String, staged: String) {
        let first = try await tokens.makeKey("DRILLTWO01", on: token)
        let second = try await tokens.makeKey("DRILLTWO02", on: token)
        try await reconfigure { configuration in
            configuration.accounts.append(
                .init(
                    issuerID: Self.secondIssuerID, bundleID: Self.secondBundleID, hasDualControl: true, keys: [first]))
        }
        // The first key of a new account becomes active; later keys are staged.
        try await reconfigure { $0.accounts[1].keys.append(second) }
        return (first.keyID, second.keyID)
    }

    // MARK: Ending

    func end() async {
        let child = state.withLock { state in
            defer { state.child = nil }
            return state.child
        }
        await child?.end()
    }

    /// Copies the log, its public key, its checkpoints and the gateway's output. Call after `end()`.
    func keepEvidence(in place: String) throws {
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        for name in ["audit.db", "audit.db-wal", "audit.db.key.pub", "audit.db.checkpoints", "gateway.log"] {
            let path = "\(directory)/\(name)"
            guard FileManager.default.fileExists(atPath: path) else { continue }
            try FileManager.default.copyItem(atPath: path, toPath: "\(place)/\(name)")
        }
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }
}
