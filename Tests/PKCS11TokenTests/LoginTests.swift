import Crypto
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Login", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct LoginTests {
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let uri: String

    init() throws {
        module = try FaultyModule.shared.get()
        token = try SoftHSM.shared.get().makeToken()
        try token.generateKey(label: "KEY", id: [1])
        uri = token.uri("object=KEY", modulePath: module.path)
        try module.fresh()
    }

    @Test("all sessions of a backend share one login")
    func once() async throws {
        try await withKey(uri, ["sessions": .integer(4)]) { _, key in
            for _ in 0..<20 { #expect(await fault(key) == nil) }
        }
        #expect(module.count("C_Login") == 1)
        #expect(module.count("C_Logout") == 0)
    }

    @Test("two backends that open one token at once share one login")
    func singleFlight() async throws {
        try module.follow("C_Login delay=100")
        async let first = open(uri)
        async let second = open(uri)
        let (one, other) = try await (first, second)
        #expect(module.count("C_Login") == 1)
        await one.0.close()
        // The other backend is still logged in.
        #expect(await fault(other.1) == nil)
        await other.0.close()
        #expect(module.count("C_Finalize") == 1)
    }

    @Test("a wrong PIN reaches the token once, and the right one still opens it")
    func wrongPIN() async throws {
        let wrong = token.uri("object=KEY", modulePath: module.path, pinFile: try token.pinFile(holding: "no-such-pin"))
        for _ in 0..<3 {
            guard case .loginRefused(let sentence) = await refusal(of: wrong) else {
                Issue.record("a wrong PIN was accepted")
                return
            }
            #expect(!sentence.contains("no-such-pin"))
        }
        // The same PIN in another file counts as the same PIN.
        let copy = token.uri("object=KEY", modulePath: module.path, pinFile: try token.pinFile(holding: "no-such-pin"))
        guard case .loginRefused = await refusal(of: copy) else {
            Issue.record("a wrong PIN was accepted")
            return
        }
        #expect(module.count("C_Login") == 1)
        #expect(await refusal(of: uri) == nil)
        #expect(module.count("C_Login") == 2)
    }

    @Test("a token that warns of a PIN lock gets no login", arguments: ["0x20000", "0x40000"])
    func warning(_ flag: String) async throws {
        try module.follow("C_GetTokenInfo flags=\(flag)")
        guard case .loginBlocked(let sentence) = await refusal(of: uri) else {
            Issue.record("a login was tried")
            return
        }
        #expect(sentence.contains("does not log in"))
        #expect(module.count("C_Login") == 0)
    }

    @Test("A token with a keypad gets one login without a PIN if no PIN is configured")
    func protectedPath() async throws {
        let bare = "pkcs11:token=\(token.label);object=KEY?module-path=\(module.path)"
        try module.follow("C_GetTokenInfo flags=0x100", "C_Login rv=0xA0")
        for _ in 0..<2 {
            guard case .loginBlocked(let sentence) = await refusal(of: bare) else {
                Issue.record("the keypad's refusal was not heard")
                return
            }
            #expect(!sentence.contains("the PIN"), "\(sentence)")
        }
        #expect(module.count("login user=0x1 pin=none rv=0xa0") == 1)
        #expect(module.count("C_Login") == 1)
    }

    @Test("The backend sends a configured PIN despite CKF_PROTECTED_AUTHENTICATION_PATH")
    func configuredPINOnProtectedPath() async throws {
        try module.follow("C_GetTokenInfo flags=0x100")
        try await withKey(uri) { _, key in #expect(await fault(key) == nil) }
        #expect(module.count("login user=0x1 pin=given rv=0x0") == 1)
    }

    @Test(
        "A login that fails for an unknown reason is repeated only on the operator's order",
        arguments: [
            "0x5", "0x6", "0x7", "0x30", "0x31", "0x2", "0x50", "0x91", "0xB0", "0x32", "0xA3", "0x103", "0x80000001",
        ])
    func unclearLogin(_ answer: String) async throws {
        try module.follow("C_Login rv=\(answer)")
        for _ in 0..<3 {
            guard case .loginBlocked(let sentence) = await refusal(of: uri) else {
                Issue.record("the login was not taken, and may have cost a try")
                return
            }
            #expect(sentence.contains("reload"), "\(sentence)")
        }
        #expect(module.count("C_Login") == 1)
        try module.follow()
        let order = MonotonicTime.nanoseconds()
        #expect(await refusal(of: uri, reopenOrderedAt: order) == nil)
        #expect(module.count("C_Login") == 2)
        // A successful login lifts the refusal for all requests.
        #expect(await refusal(of: uri) == nil)
    }

    @Test("One order of the operator allows one login")
    func oneAttemptForAnOrder() async throws {
        try module.follow("C_Login rv=0x30")
        _ = await refusal(of: uri)
        let order = MonotonicTime.nanoseconds()
        for _ in 0..<3 { _ = await refusal(of: uri, reopenOrderedAt: order) }
        #expect(module.count("C_Login") == 2)
    }

    @Test("After a token is unlocked, the operator's order repeats the login once with the same PIN")
    func unlocked() async throws {
        try module.follow("C_Login rv=0xA4")
        for _ in 0..<2 {
            guard case .loginBlocked = await refusal(of: uri) else {
                Issue.record("a locked token was logged in to")
                return
            }
        }
        #expect(module.count("C_Login") == 1)
        try module.follow()
        #expect(await refusal(of: uri, reopenOrderedAt: MonotonicTime.nanoseconds()) == nil)
    }

    @Test("The operator's order does not repeat a wrong PIN")
    func wrongPINByOrder() async throws {
        let wrong = token.uri("object=KEY", modulePath: module.path, pinFile: try token.pinFile(holding: "no-such-pin"))
        for _ in 0..<3 {
            guard case .loginRefused = await refusal(of: wrong, reopenOrderedAt: MonotonicTime.nanoseconds()) else {
                Issue.record("a wrong PIN was accepted")
                return
            }
        }
        #expect(module.count("C_Login") == 1)
    }

    @Test(
        "A login is repeated after a pause if the token did not check the PIN",
        arguments: ["0xB3", "0xE0", "0x190"])
    func uncheckedLogin(_ answer: String) async throws {
        try module.follow("C_Login to=1 rv=\(answer)")
        guard case .unavailable = await refusal(of: uri) else {
            Issue.record("no session is logged in")
            return
        }
        guard case .unavailable = await refusal(of: uri) else {
            Issue.record("there was no pause")
            return
        }
        #expect(module.count("C_Login") == 1)
        try await eventually("it is made again") { await refusal(of: uri) == nil }
        #expect(module.count("C_Login") == 2)
    }

    @Test(
        "A login is tried at most three times if the token never checks the PIN",
        arguments: ["0xB3", "0xE0", "0x190", "0x104", "0x105"])
    func uncheckedLoginForEver(_ answer: String) async throws {
        try module.follow("C_Login rv=\(answer)")
        for _ in 0..<3 {
            // The operator's order ends the pause before the next attempt.
            guard case .unavailable = await refusal(of: uri, reopenOrderedAt: MonotonicTime.nanoseconds()) else {
                Issue.record("the PIN was not looked at")
                return
            }
        }
        for order in [MonotonicTime.nanoseconds(), nil, nil] {
            guard case .loginBlocked = await refusal(of: uri, reopenOrderedAt: order) else {
                Issue.record("the PIN may have been looked at four times")
                return
            }
        }
        #expect(module.count("C_Login") == 4)
    }

    @Test(
        "A context login is not repeated at once if the token did not check the PIN",
        arguments: ["0x91", "0x100", "0x104"])
    func uncheckedContextLogin(_ answer: String) async throws {
        try makeCarefulKeys("CAREFUL")
        let uri = token.uri("object=CAREFUL", modulePath: module.path)
        try await withKey(uri) { _, key in
            try module.follow("C_Login rv=\(answer)")
            for _ in 0..<5 { #expect(await fault(key) != nil) }
            #expect(module.count("C_Login") == 2)
        }
    }

    @Test(
        "A context login that fails for an unknown reason is not repeated",
        arguments: ["0x5", "0x30", "0x80000001"])
    func unclearContextLogin(_ answer: String) async throws {
        try makeCarefulKeys("CAREFUL")
        let uri = token.uri("object=CAREFUL", modulePath: module.path)
        try await withKey(uri) { _, key in
            try module.follow("C_Login rv=\(answer)")
            for _ in 0..<3 {
                guard case .loginBlocked = await fault(key) else {
                    Issue.record("the login was not taken, and may have cost a try")
                    return
                }
            }
        }
        #expect(module.count("C_Login") == 2)
        try module.follow()
        let (backend, key) = try await open(uri, reopenOrderedAt: MonotonicTime.nanoseconds())
        #expect(await fault(key) == nil)
        await backend.close()
    }

    @Test("The user that logs in can be vendor-defined, such as Luna's Crypto User")
    func vendorUser() async throws {
        try await withKey(uri, ["userType": .integer(0x8000_0001)]) { _, key in #expect(await fault(key) == nil) }
        #expect(module.count("login user=0x80000001 pin=given rv=0x0") == 1)
    }

    @Test("A provisioning session logs in as the same user as signing")
    func vendorUserOfWorkshop() async throws {
        let address = try PKCS11TokenBackend.address(of: KeyURI(uri))
        let settings = try PluginSettings(
            ["userType": .integer(0x8000_0001)], for: PKCS11TokenBackend.settings)
        let environment = KeyBackendEnvironment(settings: settings, secrets: FileSecrets())
        await (try await PKCS11TokenBackend.provisioningSession(at: address.locator, in: environment)).close()
        #expect(module.count("login user=0x80000001 pin=given rv=0x0") == 1)
    }

    @Test("An invalid user type is refused", arguments: [0, 2])
    func userTypes(_ type: Int) {
        #expect(throws: KeyError.self) {
            try PluginSettings(["userType": .integer(type)], for: PKCS11TokenBackend.settings)
        }
    }

    @Test("The backend opens read-write sessions if the token refuses read-only ones, as AWS CloudHSM does")
    func readOnlySessionsRefused() async throws {
        try module.follow("C_OpenSession readonly rv=0x6")
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            #expect(await fault(key) == nil)
            // Only the session that keeps the login tries a read-only session; the others do not try again.
            #expect(module.count("C_OpenSession") == 4)
            try module.follow("C_OpenSession readonly rv=0x6", "C_SignInit to=1 rv=0xB3")
            #expect(await fault(key) == nil)
            try await eventually("it is ready") { await backend.health() == .ready }
        }
    }

    @Test("A key with context logins needs logins for signatures, not for new sessions")
    func noProofWithPIN() async throws {
        try makeCarefulKeys("CAREFUL")
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path), ["sessions": .integer(2)]) {
            backend, key in
            #expect(key.proofSchedule == .onDemand)
            try module.follow("C_SignInit to=1 rv=0xB3")
            #expect(await fault(key) == nil)
            try await eventually("it is ready") { await backend.health() == .ready }
            #expect(module.count("C_Login") == 2)
        }
    }

    @Test("CKR_USER_ALREADY_LOGGED_IN counts as a successful login")
    func alreadyLoggedIn() async throws {
        // As if another part of the process had logged in first.
        try module.follow("C_Login rv=0x100")
        // No session is really logged in, so the key is invisible: the search fails, not the login.
        guard case .notFound = await refusal(of: uri) else {
            Issue.record("CKR_USER_ALREADY_LOGGED_IN is not a refusal")
            return
        }
    }

    @Test("the error for a missing PIN says what to add")
    func noPIN() async throws {
        let bare = "pkcs11:token=\(token.label);object=KEY?module-path=\(module.path)"
        guard case .secretUnavailable(let sentence) = await refusal(of: bare) else {
            Issue.record("a token gave its key without a PIN")
            return
        }
        #expect(sentence.contains("pin-source=file:"))
        #expect(module.count("C_Login") == 0)
    }

    @Test("a key with context logins gets one login for each signature")
    func contextLogin() async throws {
        try token.generateKey(label: "CAREFUL", id: [2], .with { $0.alwaysAuthenticates = true })
        try module.fresh()
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path)) { _, key in
            for _ in 0..<3 { #expect(await fault(key) == nil) }
        }
        #expect(module.count("C_Login") == 1 + 3)
    }

    @Test("a context login with a refused PIN is not repeated")
    func contextLoginRefused() async throws {
        try token.generateKey(label: "CAREFUL", id: [2], .with { $0.alwaysAuthenticates = true })
        try module.fresh()
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path)) { _, key in
            try module.follow("C_Login rv=0xA0")
            for _ in 0..<3 {
                guard case .loginRefused = await fault(key) else {
                    Issue.record("a refused PIN signs nothing")
                    return
                }
            }
        }
        #expect(module.count("C_Login") == 2)
    }

    private func makeCarefulKeys(_ labels: String...) throws {
        for (id, label) in labels.enumerated() {
            try token.generateKey(label: label, id: [UInt8(id) + 2], .with { $0.alwaysAuthenticates = true })
        }
        try module.fresh()
    }

    @Test("concurrent requests for a key with context logins send a refused PIN once and cost one session")
    func refusedInParallel() async throws {
        try makeCarefulKeys("CAREFUL")
        let settings: [String: PluginSettings.Value] = ["sessions": .integer(8)]
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path), settings) { backend, key in
            let sessions = module.count("C_OpenSession")
            try module.follow("C_Login delay=50 rv=0xA0")
            let faults = await withTaskGroup(of: KeyError?.self) { group in
                for _ in 0..<12 { group.addTask { await fault(key) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for fault in faults {
                guard case .loginRefused = fault else {
                    Issue.record("a refused PIN signs nothing: \(String(describing: fault))")
                    return
                }
            }
            try await eventually("it is ready") { await backend.health() == .ready }
            #expect(module.count("C_OpenSession") <= sessions + 1)
        }
        #expect(module.count("C_Login") == 2)
    }

    @Test("a PIN that one key's context login refused is not sent for another key of the token")
    func refusedForAnother() async throws {
        try makeCarefulKeys("CAREFUL", "WARY")
        let (backend, key) = try await open(token.uri("object=CAREFUL", modulePath: module.path))
        try await withKey(token.uri("object=WARY", modulePath: module.path)) { _, other in
            try module.follow("C_Login rv=0xA0")
            for key in [key, other] {
                guard case .loginRefused = await fault(key) else {
                    Issue.record("a refused PIN signs nothing")
                    return
                }
            }
        }
        await backend.close()
        #expect(module.count("C_Login") == 2)
    }

    @Test("a PIN that is refused during the test of a new session is not sent again")
    func refusedInProof() async throws {
        try makeCarefulKeys("CAREFUL")
        let uri = token.uri("object=CAREFUL", modulePath: module.path)
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            try module.follow("C_SignInit to=1 rv=0x30", "C_Login rv=0xA0")
            _ = await fault(key)
            try await eventually("the session is replaced") { await backend.health() == .ready }
            guard case .loginRefused = await fault(key) else {
                Issue.record("a refused PIN signs nothing")
                return
            }
        }
        #expect(module.count("C_Login") == 2)
    }

    @Test("a token that warns of a PIN lock gets no context login", arguments: ["0x20000", "0x40000"])
    func warningForSignature(_ flag: String) async throws {
        try makeCarefulKeys("CAREFUL")
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path)) { backend, key in
            try module.follow("C_GetTokenInfo flags=\(flag)")
            guard case .loginBlocked(let sentence) = await fault(key) else {
                Issue.record("a login was tried")
                return
            }
            #expect(sentence.contains("does not log in"))
            #expect(await backend.health() == .ready)
            try module.follow()
            #expect(await fault(key) == nil)
        }
        #expect(module.count("C_Login") == 2)
    }
}
