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
    public func report() -> [SignerStatus] {
        pools.withLock { Array($0) }
            .sorted {
                ($0.key.settings.name, $0.key.locator?.uri.text ?? "") < (
                    $1.key.settings.name, $1.key.locator?.uri.text ?? ""
                )
            }
            .map { SignerStatus($0.value, location: $0.key.locator?.uri.description) }
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

extension SignerStatus {
    init(_ pool: SignerPool, location: String?) {
        let processes = pool.processes
        self.init(
            name: pool.settings.name, location: location, socket: pool.settings.socket,
            processesWanted: pool.settings.processes,
            processes: processes.map { process in
                let protection = process.protection
                return Process(
                    pid: protection.pid, uid: protection.uid,
                    ageSeconds: Int((.now - process.begun).components.seconds), protection: protection.layers,
                    missingProtection: protection.missing, protectionLimits: protection.limits,
                    inProgress: process.connection.load)
            },
            losses: pool.losses, reason: processes.isEmpty ? pool.failure?.description : nil)
    }
}
