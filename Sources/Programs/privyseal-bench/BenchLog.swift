import AuditKit
import AuditLog
import SQLiteAuditStore
import SigningKit
import TransparencyLog

/// A new audit log with a key of its own.
struct BenchLog {
    let log: AuditLog
    let signer: NoteSigner

    /// - Parameters:
    ///   - database: must not exist yet.
    ///   - now: the time of the log.
    init(_ database: String, now: @escaping @Sendable () -> Timestamp = Timestamp.now) throws {
        signer = try NoteSigner.generate(name: "example.com/bench")
        try SQLiteAuditStore.create(at: AuditLocation(database), identity: AuditIdentity(origin: signer.name))
        log = AuditLog(signer: signer, now: now) { () throws(AuditStoreError) in
            try SQLiteAuditStore.open(at: AuditLocation(database), as: .gateway, timeout: .seconds(5))
        }
        try log.open()
    }
}
