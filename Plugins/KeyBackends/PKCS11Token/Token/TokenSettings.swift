internal import Glibc
internal import PKCS11
internal import SigningKit

struct TokenSettings: Sendable {
    /// Sessions that sign in parallel, each on its own thread; the token may allow fewer.
    let sessions: Int
    /// Signatures that may wait in the queue.
    let queueLimit: Int
    /// Limit for one call into the token, in milliseconds.
    let timeout: Int
    let allowsUnprotectedKeys: Bool
    /// `CK_USER_TYPE` of the login.
    let userType: Int

    init(_ settings: PluginSettings) {
        sessions = settings.integer("sessions")
        queueLimit = settings.integer("queueLimit")
        timeout = settings.integer("operationTimeout") * 1000
        allowsUnprotectedKeys = settings.boolean("allowUnprotectedKeys")
        userType = settings.integer("userType")
    }

    var user: Session.User { Session.User(rawValue: UInt(clamping: userType)) }

    static let declared: [PluginSetting] = [
        PluginSetting(
            "sessions", .integer(default: defaultSessions, allowed: 1...64),
            "sessions with each token that sign in parallel, each on its own thread",
            defaultInWords: "the number of cores, 2 to 16"),
        PluginSetting(
            "queueLimit", .integer(default: 512, allowed: 1...65_536),
            "signatures that may wait for a session; beyond this limit, the answer is busy"),
        PluginSetting(
            "operationTimeout", .seconds(default: 10, allowed: 1...600),
            "seconds that a call into the token may take before the token counts as unavailable for the caller"),
        PluginSetting(
            "allowUnprotectedKeys", .boolean(default: false),
            "`true` accepts keys that can be extracted from the token; for tests only"),
        PluginSetting(
            // CKU_SO is 0; it may not use private keys. CKU_CONTEXT_SPECIFIC is 2, for single operations.
            "userType", .integer(default: 1, allowed: 1...0xFFFF_FFFF, except: [2]),
            "the user that logs in (`CK_USER_TYPE`), but not 2: 1 is `CKU_USER`, 2147483649 the Crypto User of a Luna partition"
        ),
    ]

    /// A software token is fastest with one session per core; a hardware token reports its own limit.
    private static let defaultSessions = min(max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 2), 16)
}
