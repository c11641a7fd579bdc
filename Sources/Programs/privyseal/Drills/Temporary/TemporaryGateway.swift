import ArgumentParser
import Crypto
import Foundation
import Glibc
import KeyDrills
import NIOHTTP1
import Signing
import Synchronization

/// A gateway with its own keys, token, clients and audit log in a temporary directory.
final class TemporaryGateway: Sendable {
    private struct State {
        var configuration: TemporaryConfiguration
        var child: ChildProcess?
    }

    static let issuerID = "0d411100-0000-4000-8000-000000000001"
    private static let secondIssuerID = "0d411100-0000-4000-8000-000000000002"
    private static let bundleID = "com.example.drill"
    private static let secondBundleID = "com.example.drill.two"

    let directory: String
    let tokens: TemporaryTokens
    let token: TemporaryTokens.Token
    /// SoftHSM's directories of the tokens of the active key: the first is that of `token`.
    private let tokenDirectories: [String]
    /// The staged key.
    let staged: TemporaryConfiguration.Key
    /// The token of the client that sends the load.
    private let clientToken: String
    private let state: Mutex<State>

    var configurationPath: String { "\(directory)/gateway.yaml" }
    private var publicAddress: String { "unix:\(directory)/public.sock" }

    // MARK: Creation

    /// Creates tokens and keys, starts the gateway, waits until it is ready, and declares the staged key.
    ///
    /// - Parameter hasReplica: whether the active key has a second token.
    static func start(hasReplica: Bool = false) async throws -> TemporaryGateway {
        let directory = try makeDirectory()
        var started: TemporaryGateway?
        do {
            let gateway = try await TemporaryGateway(in: directory, hasReplica: hasReplica)
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
        let number = String(UInt32.random(in: 0x10_0000...0xFF_FFFF), radix: 16)
        let path = "\(FileManager.default.temporaryDirectory.path)/privyseal-drill-\(number)"
        // NIO allows a socket's path 103 bytes, fewer than unix(7).
        guard path.utf8.count + "/public.sock".utf8.count <= 103 else {
            throw DrillError("\(path) is too long for a socket in it; set TMPDIR to a shorter path.")
        }
        guard mkdir(path, 0o700) == 0 else {
            throw DrillError("No directory can be made for the drill: \(String(cString: strerror(errno))).")
        }
        return path
    }

    private init(in directory: String, hasReplica: Bool) async throws {
        self.directory = directory
        tokens = try TemporaryTokens(in: "\(directory)/softhsm")
        token = try await tokens.makeToken("drill")
        let first = try tokens.directories()
        let active: TemporaryConfiguration.Key
        if hasReplica {
            let second = try await tokens.makeToken("drill-2", hasOwnModule: true)
            active = try await Self.importKey("DRILLKEY01", in: directory, into: [token, second], tokens)
        } else {
            active = try await tokens.makeKey("DRILLKEY01", on: token)
        }
        tokenDirectories = first + (try tokens.directories()).filter { !first.contains($0) }
        staged = try await tokens.makeKey("DRILLKEY02", on: token)
        let everything = #"allow: [{apps: ["*"], features: ["*"], products: ["*"], offers: ["*"], keyIds: ["*"]}]"#
        let clients = [
            ("drill", ClientToken.mint(), everything), ("first-officer", .mint(), "administrator: true"),
            ("second-officer", .mint(), "administrator: true"),
        ]
        clientToken = clients[0].1.text
        for (name, token, _) in clients {
            try DurableWrite.create("\(directory)/\(name).token", token.text, mode: 0o600)
        }
        let account = TemporaryConfiguration.Account(
            issuerID: Self.issuerID, bundleID: Self.bundleID, hasDualControl: false, keys: [active])
        state = Mutex(State(configuration: .init(directory: directory, clients: clients, accounts: [account])))
    }

    /// Makes a key in a file, imports it into the tokens, and removes the file.
    private static func importKey(
        _ keyID: String, in directory: String, into all: [TemporaryTokens.Token], _ tokens: TemporaryTokens
    ) async throws -> TemporaryConfiguration.Key {
        let file = "\(directory)/AuthKey_\(keyID).p8"
        try DurableWrite.create(file, P256.Signing.PrivateKey().pemRepresentation, mode: 0o600)
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try await tokens.importKey(keyID, from: file, into: all)
    }

    private func launch() async throws {
        try writeConfiguration()
        let child = try ChildProcess(["serve", "--config", configurationPath], log: "\(directory)/gateway.log")
        state.withLock { $0.child = child }
        let client = try client(publicAddress)
        let end = ContinuousClock.now + .seconds(30)
        while child.isRunning, ContinuousClock.now < end {
            if (try? await client.ask(.GET, "/readyz", accept: nil)) != nil { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        let tail = child.output.split(separator: "\n").suffix(8).joined(separator: "\n")
        throw DrillError("The throw-away gateway did not get ready:\n\(tail)")
    }

    // MARK: Clients

    /// The environment of a scenario, with the gateway's own administrator. The caller closes its target.
    func environment(_ conditions: DrillConditions) throws -> DrillEnvironment {
        let connections = conditions.load.connections
        guard let target = LoadTarget(publicAddress, token: clientToken, tls: nil, connections: connections) else {
            throw DrillError("\(publicAddress) is no address.")
        }
        return DrillEnvironment(
            conditions: conditions, issuerID: Self.issuerID, bundleID: Self.bundleID, replacement: staged.keyID,
            admin: try adminClient(), outsider: try adminClient("drill"), target: target, throwAway: self)
    }

    /// - Parameter name: of the client; nil for the administrator by the process's user.
    func adminClient(_ name: String? = nil) throws -> AdminClient {
        try client("unix:\(directory)/admin.sock", name.map { ["--token-file", "\(directory)/\($0).token"] } ?? [])
    }

    private func client(_ address: String, _ options: [String] = []) throws -> AdminClient {
        try AdminClient(address, try AdminOption.parse(["--admin", address] + options))
    }

    // MARK: Configuration

    /// - Throws: `AdminError.refused` with the gateway's reason, after restoring the previous configuration.
    func reconfigure(_ change: (inout [TemporaryConfiguration.Account]) -> Void) async throws {
        let before = state.withLock { state in
            defer { change(&state.configuration.accounts) }
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

    private func writeConfiguration() throws {
        let yaml = state.withLock { $0.configuration.yaml }
        try Data(yaml.utf8).write(to: URL(filePath: configurationPath), options: [.atomic])
    }

    func declare(_ key: TemporaryConfiguration.Key) async throws {
        try await reconfigure { $0[0].keys.append(key) }
    }

    /// Adds an account with dual control.
    func declareDualControl() async throws -> (active: String, staged: String) {
        let (first, second) = (try await makeKey("DRILLTWO01"), try await makeKey("DRILLTWO02"))
        let account = TemporaryConfiguration.Account(
            issuerID: Self.secondIssuerID, bundleID: Self.secondBundleID, hasDualControl: true, keys: [first])
        try await reconfigure { $0.append(account) }
        // The first key of a new account becomes active; later keys are staged.
        try await reconfigure { $0[1].keys.append(second) }
        return (first.keyID, second.keyID)
    }

    // MARK: Token

    /// Generates a key on the gateway's token.
    func makeKey(_ keyID: String) async throws -> TemporaryConfiguration.Key {
        try await tokens.makeKey(keyID, on: token)
    }

    /// Moves a token's directory away, as if a person had removed the token.
    ///
    /// - Parameter number: of the token of the active key; 0 for `token`.
    func removeToken(_ number: Int = 0) throws {
        try FileManager.default.moveItem(atPath: tokenDirectories[number], toPath: awayDirectory(number))
    }

    func returnToken(_ number: Int = 0) throws {
        try FileManager.default.moveItem(atPath: awayDirectory(number), toPath: tokenDirectories[number])
    }

    private func awayDirectory(_ number: Int) -> String { "\(directory)/unplugged-\(number)" }

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

    func remove() { try? FileManager.default.removeItem(atPath: directory) }
}
