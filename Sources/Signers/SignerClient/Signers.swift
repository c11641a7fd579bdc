import SignerProtocol
public import SigningKit
import Synchronization

/// The signers of this process. Processes belong to a whole process, so there is one list of them.
public final class Signers: Sendable {
    public static let shared = Signers()

    private struct Key: Hashable {
        let settings: SignerSettings
        /// Nil for a signer that all its locations share.
        let locator: KeyLocator?
    }

    private let pools = Mutex<[Key: SignerPool]>([:])

    /// The pool for a location, and the number of the backend that will be opened in it.
    ///
    /// - Parameter locator: nil for a signer that all its locations share.
    func place(
        _ settings: SignerSettings, for locator: KeyLocator?, _ environment: KeyBackendEnvironment
    ) -> (pool: SignerPool, number: UInt32) {
        pools.withLock { pools in
            let key = Key(settings: settings, locator: locator)
            let pool = pools[key] ?? SignerPool(settings, logins: environment.logins)
            pools[key] = pool
            return (pool, pool.nextNumber())
        }
    }

    func pool(named name: String) -> SignerPool? {
        pools.withLock { $0.first { $0.key.settings.name == name }?.value }
    }

    func closeIfEmpty(_ pool: SignerPool) async {
        let isUnused = pools.withLock { pools in
            guard pool.isEmpty else { return false }
            for (key, known) in pools where known === pool { pools[key] = nil }
            return true
        }
        if isUnused { await pool.end() }
    }

    /// One element for each process, and one for each signer without a process.
    public func report() -> [SignerReport] {
        pools.withLock { Array($0) }
            .sorted {
                ($0.key.settings.name, $0.key.locator?.uri.text ?? "") < (
                    $1.key.settings.name, $1.key.locator?.uri.text ?? ""
                )
            }
            .map { SignerReport($0.value, location: $0.key.locator?.uri.description) }
    }

    /// Replaces the processes of a signer while it signs.
    ///
    /// - Parameter reason: a sentence for the audit log.
    /// - Returns: false if there is no signer of this name.
    /// - Throws: if a new process could not open everything. The old ones then stay.
    public func restart(_ name: String, because reason: String) async throws(KeyError) -> Bool {
        let found = pools.withLock { $0.filter { $0.key.settings.name == name }.map(\.value) }
        for pool in found { try await pool.restart(because: reason) }
        return !found.isEmpty
    }

    /// Signatures that signers have made for no digest of the gateway, and signatures that the gateway neither recorded
    /// nor discarded.
    public func signaturesWithoutRecord() async -> Int {
        var sum = SignatureCounts.shared.withoutRecord
        for pool in pools.withLock({ Array($0.values) }) { sum += await pool.unsentSignatures() }
        return sum
    }
}

/// A signer, for operators.
public struct SignerReport: Sendable {
    public struct Process: Sendable {
        public let pid: Int32
        public let uid: UInt32
        public let age: Duration
        /// The layers of protection in force.
        public let layers: [String]
        /// The layers that are not in force, with the reasons.
        public let missing: [String: String]
        /// Sentences on what the layers in force do not protect.
        public let limits: [String]
        /// Digests without an answer.
        public let inProgress: Int
    }

    public let name: String
    /// Nil for a signer that all its locations share.
    public let location: String?
    /// The socket of a signer that runs on its own.
    public let socket: String?
    public let wanted: Int
    public let processes: [Process]
    /// Processes that were lost.
    public let losses: Int
    /// Why no process signs; nil if one does.
    public let failure: String?

    init(_ pool: SignerPool, location: String?) {
        name = pool.settings.name
        self.location = location
        socket = pool.settings.socket
        wanted = pool.settings.processes
        processes = pool.processes.map { process in
            let protection = process.protection
            return Process(
                pid: protection.pid, uid: protection.uid, age: .now - process.begun, layers: protection.layers,
                missing: protection.missing, limits: protection.limits, inProgress: process.connection.load)
        }
        losses = pool.losses
        failure = processes.isEmpty ? pool.failure?.description : nil
    }
}
