import Crypto
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Logging in", .serialized, .softHSM, .timeLimit(.minutes(1)))
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

    @Test("two backends that open one token at once make one login between them")
    func singleFlight() async throws {
        try module.follow("C_Login delay=100")
        async let first = open(uri)
        async let second = open(uri)
        let (one, other) = try await (first, second)
        #expect(module.count("C_Login") == 1)
        await one.0.close()
        // The login is still the other's.
        #expect(await fault(other.1) == nil)
        await other.0.close()
        #expect(module.count("C_Finalize") == 1)
    }

    @Test("a wrong PIN is shown to the token once, whoever asks again, and the right one still opens it")
    func wrongPIN() async throws {
        let wrong = token.uri("object=KEY", modulePath: module.path, pinFile: try token.pinFile(holding: "no-such-pin"))
        for _ in 0..<3 {
            guard case .loginRefused(let sentence) = await refusal(of: wrong) else {
                Issue.record("a wrong PIN was accepted")
                return
            }
            #expect(!sentence.contains("no-such-pin"))
        }
        // Another file with the same PIN is the same PIN.
        let copy = token.uri("object=KEY", modulePath: module.path, pinFile: try token.pinFile(holding: "no-such-pin"))
        guard case .loginRefused = await refusal(of: copy) else {
            Issue.record("a wrong PIN was accepted")
            return
        }
        #expect(module.count("C_Login") == 1)
        #expect(await refusal(of: uri) == nil)
        #expect(module.count("C_Login") == 2)
    }

    @Test("a token that warns of a lock sees no login at all", arguments: ["0x20000", "0x40000"])
    func warning(_ flag: String) async throws {
        try module.follow("C_GetTokenInfo flags=\(flag)")
        guard case .loginRefused(let sentence) = await refusal(of: uri) else {
            Issue.record("a login was tried")
            return
        }
        #expect(sentence.contains("no login is tried"))
        #expect(module.count("C_Login") == 0)
    }

    @Test("a PIN typed on the token itself takes none from here")
    func protectedPath() async throws {
        // SoftHSM has no keypad; what counts is that a refusal there is a refusal too.
        try module.follow("C_GetTokenInfo flags=0x100", "C_Login rv=0xA0")
        guard case .loginRefused = await refusal(of: uri), case .loginRefused = await refusal(of: uri) else {
            Issue.record("the keypad's refusal was not heard")
            return
        }
        #expect(module.count("C_Login") == 1)
    }

    @Test("already logged in is success")
    func alreadyLoggedIn() async throws {
        // As if another part of the process had been faster.
        try module.follow("C_Login rv=0x100")
        // Nobody is logged in really, so that the key is hidden: not the login fails but the search.
        guard case .notFound = await refusal(of: uri) else {
            Issue.record("CKR_USER_ALREADY_LOGGED_IN is not a refusal")
            return
        }
    }

    @Test("without a PIN the error says what to add")
    func noPIN() async throws {
        let bare = "pkcs11:token=\(token.label);object=KEY?module-path=\(module.path)"
        guard case .secretUnavailable(let sentence) = await refusal(of: bare) else {
            Issue.record("a token gave its key without a PIN")
            return
        }
        #expect(sentence.contains("pin-source=file:"))
        #expect(module.count("C_Login") == 0)
    }

    @Test("a key that always asks is served by a login for each signature")
    func contextLogin() async throws {
        try token.generateKey(label: "CAREFUL", id: [2], .with { $0.alwaysAuthenticates = true })
        try module.fresh()
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path)) { _, key in
            for _ in 0..<3 { #expect(await fault(key) == nil) }
        }
        #expect(module.count("C_Login") == 1 + 3)
    }

    @Test("a key that always asks and refuses the PIN does not ask twice")
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

    @Test("many requests at once for a key that always asks show a refused PIN once, and cost one session")
    func refusedInParallel() async throws {
        try makeCarefulKeys("CAREFUL")
        let settings: [String: KeyBackendSettings.Value] = ["sessions": .integer(8)]
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

    @Test("a PIN that one key's login refused is not shown for another key of the token")
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

    @Test("a PIN that is refused while a new session is proved is not shown again")
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

    @Test("a token that warns of a lock sees no login for a signature either", arguments: ["0x20000", "0x40000"])
    func warningForSignature(_ flag: String) async throws {
        try makeCarefulKeys("CAREFUL")
        try await withKey(token.uri("object=CAREFUL", modulePath: module.path)) { backend, key in
            try module.follow("C_GetTokenInfo flags=\(flag)")
            guard case .loginRefused(let sentence) = await fault(key) else {
                Issue.record("a login was tried")
                return
            }
            #expect(sentence.contains("no login is tried"))
            #expect(await backend.health() == .ready)
            try module.follow()
            #expect(await fault(key) == nil)
        }
        #expect(module.count("C_Login") == 2)
    }
}
