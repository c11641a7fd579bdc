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
        var child: ChildGateway?
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

    var configuration: TemporaryConfiguration { state.withLock { $0.configuration } }
    var configurationPath: String { "\(directory)/gateway.yaml" }
    var publicAddress: String { "unix:\(configuration.publicSocket)" }
    var adminAddress: String { "unix:\(configuration.adminSocket)" }

    // MARK: Creation

    /// Creates tokens and keys, starts the gateway, waits until it is ready, and declares the staged key.
    static func start() async throws -> TemporaryGateway {
        let directory = try makeDirectory()
        do {
            let gateway = try await make(in: directory)
            do {
                try await gateway.launch()
                try await gateway.declareStagedKey()
                return gateway
            } catch {
                await gateway.end()
                throw error
            }
        } catch {
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
        let keys = try await tokens.makeKeys([activeKey, stagedKey], on: token)
        let clients = [("drill", false), ("first-officer", true), ("second-officer", true)].map {
            name, isAdministrator in
            (name: name, token: ClientToken.mint(), isAdministrator: isAdministrator)
        }
        for client in clients {
            try TemporaryTokens.write(Array(client.token.text.utf8), to: "\(directory)/\(client.name).token")
        }
        let active = try key(activeKey, keys, tokens, token)
        let configuration = TemporaryConfiguration(
            directory: directory,
            clients: clients.map { ($0.name, $0.token.digest, $0.isAdministrator) },
            accounts: [.init(issuerID: issuerID, bundleID: bundleID, hasDualControl: false, keys: [active])])
        let staged = try key(stagedKey, keys, tokens, token)
        return TemporaryGateway(directory, tokens, token, clients[0].token.text, configuration, staged)
    }

    private let staged: TemporaryConfiguration.Key

    private init(
        _ directory: String, _ tokens: TemporaryTokens, _ token: TemporaryTokens.Token, _ clientToken: String,
        _ configuration: TemporaryConfiguration, _ staged: TemporaryConfiguration.Key
    ) {
        self.directory = directory
        self.tokens = tokens
        self.token = token
        self.clientToken = clientToken
        self.staged = staged
        state = Mutex(State(configuration: configuration))
    }

    private static func key(
        _ keyID: String, _ keys: [String: P256.Signing.PublicKey], _ tokens: TemporaryTokens,
        _ token: TemporaryTokens.Token
    ) throws -> TemporaryConfiguration.Key {
        guard let publicKey = keys[keyID] else { throw DrillError("The token made no key \(keyID).") }
        return TemporaryConfiguration.Key(
            keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: PublicKeyFingerprint(of: publicKey))
    }

    // MARK: Running

    private func launch() async throws {
        try writeConfiguration()
        let child = try ChildGateway(
            ["serve", "--config", configurationPath], environment: ["SOFTHSM2_CONF": tokens.configurationPath],
            log: "\(directory)/gateway.log")
        state.withLock { $0.child = child }
        guard let target = LoadTarget(publicAddress, token: nil, tls: nil, connections: 1) else {
            throw DrillError("\(publicAddress) is no address.")
        }
        let isReady = await becomesReady(child, target)
        await target.close()
        guard isReady else { throw DrillError("The throw-away gateway did not get ready:\n\(child.outputTail)") }
    }

    private func becomesReady(_ child: ChildGateway, _ target: LoadTarget) async -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while !Task.isCancelled, child.isRunning, ContinuousClock.now < end {
            if (try? await target.get("/readyz").status) == 200 { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func writeConfiguration() throws {
        try Data(configuration.yaml.utf8).write(to: URL(filePath: configurationPath), options: [.atomic])
    }

    func adminClient(_ name: String? = nil) throws -> AdminClient {
        let arguments = ["--admin", adminAddress] + (name.map { ["--token-file", "\(directory)/\($0).token"] } ?? [])
        return try AdminClient(adminAddress, try AdminOption.parse(arguments))
    }

    func administrators() throws -> (first: any KeyLifecycleClient, second: any KeyLifecycleClient) {
        (
            RemoteKeyLifecycleClient(try adminClient("first-officer")),
            RemoteKeyLifecycleClient(try adminClient("second-officer"))
        )
    }

    /// The client that may request signatures, on the admin listener.
    func outsider() throws -> any KeyLifecycleClient { RemoteKeyLifecycleClient(try adminClient("drill")) }

    /// - Throws: `AdminError.refused` with the gateway's reason, after restoring the previous configuration.
    func reconfigure(_ change: (inout TemporaryConfiguration) -> Void) async throws {
        let before = configuration
        state.withLock { change(&$0.configuration) }
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

    private func declareStagedKey() async throws {
        try await declare(staged)
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
        let keyID = "DRILLWRNG1"
        _ = try await tokens.makeKeys([keyID], on: token)
        return .init(keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: staged.fingerprint)
    }

    /// A private key on the token with the public key of another pair, whose fingerprint is declared.
    func makeMismatchedKey() async throws -> TemporaryConfiguration.Key {
        let keyID = "DRILLWRNG2"
        let keys = try await tokens.makeKeys([keyID, "pinned"], on: token)
        guard let pinned = keys["pinned"] else { throw DrillError("The token made no key.") }
        try await tokens.replacePublicKey(keyID, with: pinned, on: token)
        return .init(
            keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: PublicKeyFingerprint(of: pinned))
    }

    /// Replaces the staged key on the token with another one of the same name.
    func replaceStagedKey() async throws {
        try await tokens.removeKey(Self.stagedKey, from: token)
        _ = try await tokens.makeKeys([Self.stagedKey], on: token)
    }

    /// Declares a staged key, and removes it from the token.
    func declareVanishingKey() async throws -> String {
        let keyID = "DRILLMISS1"
        let keys = try await tokens.makeKeys([keyID], on: token)
        try await declare(try Self.key(keyID, keys, tokens, token))
        try await tokens.removeKey(keyID, from: token)
        return keyID
    }

    /// The declaration of a key that was never on the token.
    func makeNoKey() -> TemporaryConfiguration.Key {
        .init(keyID: "DRILLMISS2", uri: tokens.uri(token, object: "DRILLMISS2"), fingerprint: staged.fingerprint)
    }

    /// Adds an account with dual control.
    func declareDualControl() async throws -> (active: String, staged: String) {
        let (active, staged) = ("DRILLTWO01", "DRILLTWO02")
        let keys = try await tokens.makeKeys([active, staged], on: token)
        let first = try Self.key(active, keys, tokens, token)
        let second = try Self.key(staged, keys, tokens, token)
        try await reconfigure { configuration in
            configuration.accounts.append(
                .init(
                    issuerID: Self.secondIssuerID, bundleID: Self.secondBundleID, hasDualControl: true, keys: [first]))
        }
        // The first key of a new account becomes active; later keys are staged.
        try await reconfigure { $0.accounts[1].keys.append(second) }
        return (active, staged)
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
