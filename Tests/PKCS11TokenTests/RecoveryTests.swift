import Crypto
import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Token recovery", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct RecoveryTests {
    private let hsm: SoftHSM
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let uri: String

    init() throws {
        hsm = try SoftHSM.shared.get()
        module = try FaultyModule.shared.get()
        token = try hsm.makeToken()
        try token.generateKey(label: "KEY", id: [1])
        uri = token.uri("object=KEY", modulePath: module.path)
        try module.fresh()
    }

    @Test("a token is unavailable while its directory is missing, and serves again afterwards")
    func vanished() async throws {
        try await withKey(token.uri("object=KEY")) { backend, key in
            #expect(await fault(key) == nil)
            try token.unplug()
            try await eventually("it is unavailable") {
                guard case .unavailable = await fault(key), case .unavailable = await backend.health() else {
                    return false
                }
                return true
            }
            // The token recovery makes some attempts meanwhile.
            try await Task.sleep(for: .seconds(1))
            guard case .unavailable = await fault(key) else {
                Issue.record("a token that is gone signs")
                return
            }
            try token.plug()
            try await eventually("it signs again") { await fault(key) == nil }
            try await eventually("it is ready") { await backend.health() == .ready }
        }
    }

    @Test(
        "after an error of the session or the token, another session signs and the session is replaced",
        arguments: ["0x32", "0xB3", "0xB0", "0xE0", "0xE1", "0x101", "0x190"])
    func deviceError(_ answer: String) async throws {
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            for function in ["C_SignInit", "C_Sign"] {
                let opened = module.count("C_OpenSession")
                try module.follow("\(function) to=1 rv=\(answer)")
                #expect(await fault(key) == nil)
                try await eventually("it is ready") { await backend.health() == .ready }
                #expect(module.count("C_OpenSession") == opened + 1)
            }
        }
        #expect(module.count("C_Login") == 1)
        #expect(module.count("C_Initialize") == 1)
    }

    @Test(
        "after one unknown error, another session signs and the session stays",
        arguments: ["0x30", "0x31", "0x05", "0x06", "0x80000001"])
    func chance(_ answer: String) async throws {
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            let opened = module.count("C_OpenSession")
            for function in ["C_SignInit", "C_Sign"] {
                try module.follow("\(function) to=1 rv=\(answer)")
                #expect(await fault(key) == nil)
                #expect(await backend.health() == .ready)
            }
            #expect(module.count("C_OpenSession") == opened)
        }
    }

    @Test("a request that fails twice costs one session of two, and the next request is signed")
    func chanceTwice() async throws {
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            try module.follow("C_Sign to=2 rv=0x30")
            #expect(await fault(key) != nil)
            #expect(await fault(key) == nil)
            try await eventually("it is ready") { await backend.health() == .ready }
        }
    }

    @Test("a login session that does not answer is replaced and closed")
    func formerAnchor() async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { backend, key in
            let opened = module.count("C_OpenSession")
            try module.follow("C_SignInit to=1 rv=0xB3", "C_GetSessionInfo to=1 rv=0x5")
            _ = await fault(key)
            try await eventually("it signs again") { await fault(key) == nil }
            #expect(module.count("C_OpenSession") == opened + 2)
            // After the next lost session, the backend closes the earlier ones.
            try module.follow("C_SignInit to=1 rv=0xB3")
            _ = await fault(key)
            try await eventually("it signs again") { await fault(key) == nil }
            try await eventually("all but two sessions are closed") {
                module.count("C_CloseSession") == module.count("C_OpenSession") - 2
            }
        }
    }

    @Test("a token that cannot be opened leaves no session behind while another token is open")
    func openingFails() async throws {
        let other = try hsm.makeToken()
        try other.generateKey(label: "KEY", id: [1])
        try await withKey(other.uri("object=KEY", modulePath: module.path)) { _, _ in
            let (opened, closed) = (module.count("C_OpenSession"), module.count("C_CloseSession"))
            try module.follow("C_GetSessionInfo rv=0x5")
            for _ in 0..<3 { #expect(await refusal(of: uri) != nil) }
            await #expect(throws: KeyError.self) { try await withProvisioningSession(uri) { _, _ in } }
            #expect(module.count("C_OpenSession") == opened + 4)
            #expect(module.count("C_CloseSession") == closed + 4)
            try module.follow()
        }
    }

    @Test("without another session, the error names the call that failed")
    func onlySession() async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { backend, key in
            try module.follow("C_Sign to=1 rv=0xB3")
            guard case .unavailable(let sentence) = await fault(key) else {
                Issue.record("there was no session to sign with")
                return
            }
            #expect(sentence.contains("C_Sign answered CKR_SESSION_HANDLE_INVALID"))
            try await eventually("it signs again") { await fault(key) == nil }
        }
    }

    @Test("the backend finds a key again after its handle becomes invalid", arguments: ["0x60", "0x82"])
    func handleLost(_ answer: String) async throws {
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            try module.follow("C_SignInit to=1 rv=\(answer)")
            guard case .unavailable = await fault(key) else {
                Issue.record("the key was not known")
                return
            }
            try await eventually("it signs again") { await fault(key) == nil }
            #expect(await backend.health() == .ready)
        }
        #expect(module.count("C_Initialize") == 1)
    }

    @Test("an error of the request costs no session")
    func complaint() async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { backend, key in
            let sessions = module.count("C_OpenSession")
            try module.follow("C_SignInit to=1 rv=0x68")
            guard case .failed = await fault(key) else {
                Issue.record("CKR_KEY_FUNCTION_NOT_PERMITTED is not a signature")
                return
            }
            #expect(await backend.health() == .ready)
            #expect(module.count("C_OpenSession") == sessions)
        }
    }

    @Test("one session serves while the other is lost")
    func oneOfTwo() async throws {
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            try module.follow("C_SignInit to=1 rv=0xB3", "C_OpenSession to=3 rv=0x30")
            _ = await fault(key)
            guard case .degraded(let why) = await backend.health() else {
                Issue.record("one session is lost")
                return
            }
            #expect(why.contains("1 of 2 sessions"))
            #expect(await fault(key) == nil)
            try await eventually("it is ready") { await backend.health() == .ready }
            #expect(module.count("C_Initialize") == 1)
        }
    }

    @Test("requests fail at once while the token is down, and recovery reinitializes the module")
    func reinitialised() async throws {
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            // As a network token that returns only after another C_Initialize.
            try module.follow("C_SignInit to=2 rv=0xB3", "C_OpenSession to=2 rv=0x30", "C_GetSessionInfo to=2 rv=0x30")
            try await eventually("both sessions are lost") {
                guard case .unavailable = await backend.health() else {
                    _ = await fault(key)
                    return false
                }
                return true
            }
            try await eventually("it signs again") { await fault(key) == nil }
        }
        #expect(module.count("C_Initialize") >= 2)
        #expect(module.count("C_Finalize") == module.count("C_Initialize"))
    }

    @Test("recovery does not repeat a login with a refused PIN")
    func refusedWhileMending() async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { backend, key in
            // These faults cause another C_Initialize, which ends the login.
            try module.follow(
                "C_SignInit to=1 rv=0xB3", "C_GetSessionInfo to=2 rv=0x30", "C_OpenSession to=2 rv=0x30",
                "C_Login rv=0xA0")
            _ = await fault(key)
            try await eventually("the login was refused") {
                guard case .loginRefused = await fault(key) else { return false }
                return true
            }
            try await Task.sleep(for: .seconds(1))
            guard case .unavailable = await backend.health() else {
                Issue.record("it is not healthy")
                return
            }
        }
        #expect(module.count("C_Login") == 2)
    }

    @Test("a token that is lost for good does not disturb another token of the module")
    func otherUsers() async throws {
        let other = try hsm.makeToken()
        try other.generateKey(label: "OTHER", id: [1])
        try module.fresh()
        let (lost, lostKey) = try await open(uri, ["sessions": .integer(1)])
        try await withKey(other.uri("object=OTHER", modulePath: module.path)) { backend, key in
            #expect(await fault(key) == nil)
            try token.unplug()
            try await eventually("it is unavailable") {
                guard case .unavailable = await fault(lostKey) else { return false }
                return true
            }
            try await Task.sleep(for: .seconds(3))
            // One attempt is allowed; the next one not for 30 s.
            #expect(module.count("C_Initialize") <= 2)
            try await eventually("the other signs") { await fault(key) == nil }
            #expect(await backend.health() == .ready)
            try token.plug()
        }
        await lost.close()
        #expect(module.count("C_Finalize") == module.count("C_Initialize"))
    }

    @Test("only a deleted key is unavailable, and it serves again after its import", arguments: [1, 2])
    func deletedKey(_ sessions: Int) async throws {
        let other = P256.Signing.PrivateKey()
        try token.importKey(other, label: "OTHER", id: [2])
        try module.fresh()
        let (backend, key) = try await open(uri, ["sessions": .integer(sessions)])
        let selector = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=OTHER", modulePath: module.path)))
        let deleted = try await backend.key(selector.selector)
        #expect(await fault(deleted) == nil)
        let opened = module.count("C_OpenSession")
        try token.removeKey(label: "OTHER")
        for _ in 0..<20 {
            guard case .unavailable = await fault(deleted) else {
                Issue.record("a key that is gone signs")
                return
            }
            #expect(await fault(key) == nil)
        }
        // The other keys of the token sign as before, so their state is ready.
        #expect(await backend.health() == .ready)
        #expect(module.count("C_OpenSession") == opened)
        try token.importKey(other, label: "OTHER", id: [2])
        try await eventually("it signs again") { await fault(deleted) == nil }
        #expect(await fault(key) == nil)
        #expect(await backend.health() == .ready)
        #expect(module.count("C_Initialize") == 1)
        await backend.close()
    }

    @Test("the only key of a token serves again after its deletion and import")
    func deletedOnlyKey() async throws {
        let only = P256.Signing.PrivateKey()
        try token.importKey(only, label: "ONLY", id: [3])
        let uri = token.uri("object=ONLY", modulePath: module.path)
        try await withKey(uri, ["sessions": .integer(2)]) { backend, key in
            #expect(await fault(key) == nil)
            try token.removeKey(label: "ONLY")
            try await eventually("it is unavailable") {
                _ = await fault(key)
                guard case .unavailable = await backend.health() else { return false }
                return true
            }
            try token.importKey(only, label: "ONLY", id: [3])
            try await eventually("it signs again") { await fault(key) == nil }
            try await eventually("it is ready") { await backend.health() == .ready }
        }
    }

    @Test("recovery refuses another key under the same label and one without protection")
    func replacedKey() async throws {
        let first = P256.Signing.PrivateKey()
        try token.importKey(first, label: "REPLACED", id: [3])
        let uri = token.uri("object=REPLACED", modulePath: module.path)
        try await withKey(uri) { _, key in
            try token.removeKey(label: "REPLACED")
            try token.importKey(P256.Signing.PrivateKey(), label: "REPLACED", id: [3])
            try await eventually("another key is refused") {
                guard case .unfit(let why) = await fault(key) else { return false }
                return why.contains("not the same key as before")
            }
            try token.removeKey(label: "REPLACED")
            try token.importKey(first, label: "REPLACED", id: [3], .with { $0.isExtractable = true })
            try await eventually("an extractable key is refused") {
                guard case .unfit(let why) = await fault(key) else { return false }
                return why.contains("CKA_EXTRACTABLE")
            }
            try token.removeKey(label: "REPLACED")
            try token.importKey(first, label: "REPLACED", id: [3])
            try await eventually("the first key serves again") { await fault(key) == nil }
        }
    }

    @Test(
        "recovery continues after one of its calls hangs",
        arguments: ["C_OpenSession", "C_GetSlotList", "C_GetSessionInfo"])
    func mendingHangs(_ function: String) async throws {
        let settings: [String: PluginSettings.Value] = ["sessions": .integer(1), "operationTimeout": .integer(1)]
        let barrier = module.barrier()
        try await withKey(uri, settings) { backend, key in
            try module.follow("C_SignInit to=1 rv=0xB3", "\(function) to=1 hang=\(barrier.file.path)")
            _ = await fault(key)
            try await eventually("it signs again") { await fault(key) == nil }
            try await eventually("it is ready") { await backend.health() == .ready }
            // The maintenance thread that hung continues after the token has recovered.
            try barrier.letGo()
            #expect(await fault(key) == nil)
        }
    }
}
