import SigningKit

struct KMSSettings: Sendable {
    /// The minimum age of a proof before the next one.
    let proofInterval: Duration
    /// The limit for a signature, with all attempts.
    let timeout: Duration
    /// Attempts for a call, including the first.
    let attempts: Int
    /// Requests to KMS at the same time.
    let connections: Int
    /// Signatures that may wait for a connection.
    let queueLimit: Int
    /// Days between the order to delete a key and its deletion.
    let deletionDays: Int

    init(_ settings: PluginSettings) {
        proofInterval = settings.seconds("proofInterval")
        timeout = settings.seconds("timeout")
        attempts = settings.integer("attempts")
        connections = settings.integer("connections")
        queueLimit = settings.integer("queueLimit")
        deletionDays = settings.integer("deletionDays")
    }

    /// The limit for each operation that is not a signature.
    static let managementTime = Duration.seconds(10)
    /// The minimum time between two attempts with a key that does not sign or cannot be opened. Each is billed.
    static let retryInterval = Duration.seconds(5)

    var proofSchedule: ProofSchedule { ProofSchedule(interval: proofInterval, retryInterval: Self.retryInterval) }

    static let declared: [PluginSetting] = [
        PluginSetting(
            "proofInterval", .seconds(default: 3600, allowed: 10...604_800),
            "seconds until the next proof of possession; AWS bills each one. A signature for a request counts as a proof"
        ),
        PluginSetting(
            "timeout", .seconds(default: 3, allowed: 1...60),
            "seconds for a signature, with all attempts and the wait for a connection"),
        PluginSetting(
            "attempts", .integer(default: 8, allowed: 1...20),
            "attempts for a call that AWS throttles or answers with 5xx, within the timeout"),
        PluginSetting(
            "connections", .integer(default: 32, allowed: 1...512), "requests to KMS at the same time, for each region"),
        PluginSetting(
            "queueLimit", .integer(default: 512, allowed: 1...65_536),
            "signatures that may wait for a connection; beyond this limit, the answer is busy"),
        PluginSetting(
            "deletionDays", .integer(default: 30, allowed: 7...30),
            "days after which AWS deletes a key that `keys destroy` scheduled for deletion"),
    ]
}
