import ArgumentParser
import Crypto
import Foundation
import Glibc
import KeyDrills
import NIOHTTP1
import SigningGateway
import SigningKit
import StrictJSON
import Synchronization

/// A gateway with keys, token, clients and audit log of its own, in a directory that goes with it.
final class ThrowAwayGateway: Sendable {
    private struct State {
        var configuration: ThrowAwayConfiguration
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
    let tokens: ThrowAwayTokens
    let token: ThrowAwayTokens.Token
    /// Of the client that the load comes from.
    let clientToken: String
    private let state: Mutex<State>

    var configuration: ThrowAwayConfiguration { state.withLock { $0.configuration } }
    var configurationPath: String { "\(directory)/gateway.yaml" }
    var publicAddress: String { "unix:\(configuration.publicSocket)" }
    var adminAddress: String { "unix:\(configuration.adminSocket)" }

    // MARK: Making

    /// Makes tokens and keys, starts the gateway, and waits until it is ready and has a staged key.
    static func start() async throws -> ThrowAwayGateway {
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
        // unix(7): the path of a socket has at most 107 bytes.
        guard path.utf8.count + "/public.sock".utf8.count <= 107 else {
            try? FileManager.default.removeItem(atPath: path)
            throw DrillError("\(path) is too long for a socket in it; set TMPDIR to a shorter path.")
        }
        return path
    }

    private static func make(in directory: String) async throws -> ThrowAwayGateway {
        let tokens = try ThrowAwayTokens(in: "\(directory)/softhsm")
        let token = try await tokens.makeToken("drill")
        let keys = try await tokens.makeKeys([activeKey, stagedKey], on: token)
        let clients = [("drill", false), ("first-officer", true), ("second-officer", true)].map {
            name, isAdministrator in
            (name: name, token: ClientToken.mint(), isAdministrator: isAdministrator)
        }
        for client in clients {
            try ThrowAwayTokens.write(Array(client.token.text.utf8), to: "\(directory)/\(client.name).token")
        }
        let active = try key(activeKey, keys, tokens, token)
        let configuration = ThrowAwayConfiguration(
            directory: directory,
            clients: clients.map { ($0.name, $0.token.digest, $0.isAdministrator) },
            accounts: [.init(issuerID: issuerID, bundleID: bundleID, hasDualControl: false, keys: [active])])
        let staged = try key(stagedKey, keys, tokens, token)
        return ThrowAwayGateway(directory, tokens, token, clients[0].token.text, configuration, staged)
    }

    private let staged: ThrowAwayConfiguration.Key

    private init(
        _ directory: String, _ tokens: ThrowAwayTokens, _ token: ThrowAwayTokens.Token, _ clientToken: String,
        _ configuration: ThrowAwayConfiguration, _ staged: ThrowAwayConfiguration.Key
    ) {
        self.directory = directory
        self.tokens = tokens
        self.token = token
        self.clientToken = clientToken
        self.staged = staged
        state = Mutex(State(configuration: configuration))
    }

    private static func key(
        _ keyID: String, _ keys: [String: P256.Signing.PublicKey], _ tokens: ThrowAwayTokens,
        _ token: ThrowAwayTokens.Token
    ) throws -> ThrowAwayConfiguration.Key {
        guard let publicKey = keys[keyID] else { throw DrillError("The token made no key \(keyID).") }
        return ThrowAwayConfiguration.Key(
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
        guard isReady else { throw DrillError("The throw-away gateway did not get ready:\n\(child.lastWords)") }
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

    /// The two administrators by name.
    func administrators() throws -> (first: any KeyDesk, second: any KeyDesk) {
        (RemoteKeyDesk(try adminClient("first-officer")), RemoteKeyDesk(try adminClient("second-officer")))
    }

    /// The client that may have signatures, at the administrators' door.
    func outsider() throws -> any KeyDesk { RemoteKeyDesk(try adminClient("drill")) }

    /// Has the gateway take up a changed configuration.
    ///
    /// - Throws: `AdminError.refused` with the gateway's reason; then the configuration is what it was.
    func reconfigure(_ change: (inout ThrowAwayConfiguration) -> Void) async throws {
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

    /// Has it take up one key more.
    func declare(_ key: ThrowAwayConfiguration.Key) async throws {
        try await reconfigure { $0.accounts[0].keys.append(key) }
    }

    private func declareStagedKey() async throws {
        try await declare(staged)
    }

    // MARK: Trouble

    /// Takes the token away, as if somebody had pulled it.
    func unplug() throws {
        let away = "\(directory)/unplugged"
        try FileManager.default.moveItem(atPath: token.directory, toPath: away)
        state.withLock { $0.unplugged = away }
    }

    func plug() throws {
        guard let away = state.withLock({ $0.unplugged }) else { return }
        try FileManager.default.moveItem(atPath: away, toPath: token.directory)
        state.withLock { $0.unplugged = nil }
    }

    /// A key on the token, and the declaration of another public key under its ID.
    func makeOtherKey() async throws -> ThrowAwayConfiguration.Key {
        let keyID = "DRILLWRNG1"
        _ = try await tokens.makeKeys([keyID], on: token)
        return .init(keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: staged.fingerprint)
    }

    /// A private key on the token that does not belong to the public one beside it, which is declared.
    func makeTornKey() async throws -> ThrowAwayConfiguration.Key {
        let keyID = "DRILLWRNG2"
        let keys = try await tokens.makeKeys([keyID, "pinned"], on: token)
        guard let pinned = keys["pinned"] else { throw DrillError("The token made no key.") }
        try await tokens.replacePublicKey(keyID, with: pinned, on: token)
        return .init(
            keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: PublicKeyFingerprint(of: pinned))
    }

    /// Puts another key in the place of the staged one, under its name.
    func replaceStagedKey() async throws {
        try await tokens.removeKey(Self.stagedKey, from: token)
        _ = try await tokens.makeKeys([Self.stagedKey], on: token)
    }

    /// A staged key that was there, and of which the token has nothing any more.
    func declareVanishingKey() async throws -> String {
        let keyID = "DRILLMISS1"
        let keys = try await tokens.makeKeys([keyID], on: token)
        try await declare(try Self.key(keyID, keys, tokens, token))
        try await tokens.removeKey(keyID, from: token)
        return keyID
    }

    /// A key that was never on the token.
    func makeNoKey() -> ThrowAwayConfiguration.Key {
        .init(keyID: "DRILLMISS2", uri: tokens.uri(token, object: "DRILLMISS2"), fingerprint: staged.fingerprint)
    }

    /// Another account that wants two administrators.
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
        // The first key of a new account is adopted as active; one that comes later is staged.
        try await reconfigure { $0.accounts[1].keys.append(second) }
        return (active, staged)
    }

    // MARK: Ending

    /// Ends the gateway, by its process ID.
    func end() async {
        let child = state.withLock { state in
            defer { state.child = nil }
            return state.child
        }
        await child?.end()
    }

    /// Keeps what proves the drill: the log, its public key and its checkpoints. After `end()`.
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
