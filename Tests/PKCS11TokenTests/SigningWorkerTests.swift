import Crypto
import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Signing workers and their queue", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct SigningWorkerTests {
    private let module: FaultyModule
    private let uri: String

    init() throws {
        module = try FaultyModule.shared.get()
        let token = try SoftHSM.shared.get().makeToken()
        try token.generateKey(label: "KEY", id: [1])
        uri = token.uri("object=KEY", modulePath: module.path)
        try module.fresh()
    }

    @Test("requests beyond the queue limit fail at once as busy, and the queued ones are served")
    func busy() async throws {
        try await withKey(uri, ["sessions": .integer(1), "queueLimit": .integer(2)]) { _, key in
            let barrier = module.barrier()
            try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
            async let running = fault(key)
            try await eventually("a call hangs") { module.count("C_SignInit") == 1 }
            await withTaskGroup(of: KeyError?.self) { group in
                for _ in 0..<8 { group.addTask { await fault(key) } }
                // The queue holds two requests, so six fail while the call still hangs.
                for _ in 0..<6 { #expect(await group.next() == .some(.busy)) }
                #expect(throws: Never.self) { try barrier.letGo() }
                for _ in 0..<2 { #expect(await group.next() == .some(nil)) }
            }
            #expect(await running == nil)
        }
    }

    @Test("a cancelled task leaves the queue while the signing worker is busy")
    func cancelled() async throws {
        try await withKey(uri, ["sessions": .integer(1), "queueLimit": .integer(1)]) { _, key in
            let barrier = module.barrier()
            try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
            async let running = fault(key)
            try await eventually("a call hangs") { module.count("C_SignInit") == 1 }
            await withTaskGroup(of: KeyError?.self) { group in
                for _ in 0..<2 { group.addTask { await fault(key) } }
                // The queue holds one request; the other one fails.
                #expect(await group.next() == .some(.busy))
                group.cancelAll()
                #expect(await group.next() == .some(.cancelled))
            }
            try barrier.letGo()
            #expect(await running == nil)
            #expect(module.count("C_SignInit") == 1)
        }
    }

    @Test("a hanging call fails after the timeout, and its signing worker is replaced")
    func hung() async throws {
        let settings: [String: PluginSettings.Value] = ["sessions": .integer(1), "operationTimeout": .integer(1)]
        let barrier = module.barrier()
        try await withKey(uri, settings) { backend, key in
            try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
            guard case .unavailable(let sentence) = await fault(key) else {
                Issue.record("a call that hangs gives no signature")
                return
            }
            #expect(sentence.contains("longer than 1 s"))
            try await eventually("another lane signs") { await fault(key) == nil }
            guard case .degraded(let why) = await backend.health() else {
                Issue.record("a call still hangs")
                return
            }
            #expect(why.contains("1 calls into the token hang"))
            try barrier.letGo()
            try await eventually("the call came back") { await backend.health() == .ready }
        }
    }

    @Test("hanging calls use a bounded number of threads, and then the token is unavailable")
    func allHung() async throws {
        let settings: [String: PluginSettings.Value] = ["sessions": .integer(1), "operationTimeout": .integer(1)]
        let barrier = module.barrier()
        try await withKey(uri, settings) { backend, key in
            try module.follow("C_Sign hang=\(barrier.file.path)")
            _ = await fault(key)
            try await eventually("it is given up") {
                _ = await fault(key)
                guard case .unavailable = await backend.health() else { return false }
                return module.count("C_SignInit") >= 2
            }
            #expect(module.count("C_SignInit") <= 4)
            try barrier.letGo()
            try module.follow()
            try await eventually("it signs again") { await fault(key) == nil }
        }
    }

    @Test("a signature that is not 64 bytes long is an error")
    func short() async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { _, key in
            try module.follow("C_Sign to=1 short")
            guard case .failed(let sentence) = await fault(key) else {
                Issue.record("63 bytes are not a signature")
                return
            }
            #expect(sentence.contains("64 bytes"))
            #expect(await fault(key) == nil)
        }
    }

    @Test("the public point may lack its OCTET STRING")
    func rawPoint() async throws {
        try module.follow("C_GetAttributeValue rawpoint")
        try await withKey(uri) { _, key in #expect(await fault(key) == nil) }
    }

    @Test("the backend opens no more sessions than the token allows, including the login session")
    func sessionLimit() async throws {
        try module.follow("C_GetTokenInfo sessions=3")
        try await withKey(uri, ["sessions": .integer(8)]) { _, key in
            #expect(await fault(key) == nil)
            #expect(module.count("C_OpenSession") == 3)
        }
        try module.follow("C_GetTokenInfo sessions=1")
        guard case .unfit = await refusal(of: uri) else {
            Issue.record("one session is not enough")
            return
        }
    }

    @Test("the backend is degraded while it has fewer sessions than configured")
    func fewerSessions() async throws {
        // Other programs may use sessions that the token reports as available.
        try module.follow("C_OpenSession from=4 rv=0xB1")
        try await withKey(uri, ["sessions": .integer(8)]) { backend, key in
            #expect(await fault(key) == nil)
            guard case .degraded(let why) = await backend.health() else {
                Issue.record("sessions are missing")
                return
            }
            #expect(why.contains("2 of 8 sessions"), "\(why)")
            try await eventually("it asked for more") { module.count("C_OpenSession") > 5 }
            #expect(await fault(key) == nil)
            try module.follow()
            try await eventually("it has them all") { await backend.health() == .ready }
            #expect(module.count("C_Initialize") == 1)
        }
    }

    @Test("close waits for signatures in flight and finalizes the module")
    func closing() async throws {
        let (backend, key) = try await open(uri, ["sessions": .integer(1)])
        let barrier = module.barrier()
        try module.follow("C_Sign to=1 hang=\(barrier.file.path)")
        async let running = fault(key)
        try await eventually("a call hangs") { module.count("C_SignInit") == 1 }
        async let closing: Void = backend.close()
        try await eventually("it is closing") { await backend.health() == .unavailable(KeyError.closed.description) }
        #expect(await fault(key) == .closed)
        #expect(module.count("C_Finalize") == 0)
        try barrier.letGo()
        #expect(await running == nil)
        await closing
        #expect(module.count("C_Finalize") == 1)
    }

    @Test("an open that hangs fails after the timeout and leaves nothing behind")
    func openingHangs() async throws {
        let barrier = module.barrier()
        try module.follow("C_Login to=1 hang=\(barrier.file.path)")
        guard case .unavailable = await refusal(of: uri, ["operationTimeout": .integer(1)]) else {
            Issue.record("a login that hangs opens nothing")
            return
        }
        try barrier.letGo()
        try await eventually("the module is finalised") { module.count("C_Finalize") == 1 }
        #expect(await refusal(of: uri) == nil)
    }

    @Test("no other open begins while one hangs, and the next one succeeds after it returns")
    func openingHangsOnce() async throws {
        let barrier = module.barrier()
        try module.follow("C_GetSlotList hang=\(barrier.file.path)")
        _ = await refusal(of: uri, ["operationTimeout": .integer(1)])
        for _ in 0..<5 {
            guard case .unavailable(let sentence) = await refusal(of: uri, ["operationTimeout": .integer(1)]) else {
                Issue.record("an opening that hangs opens nothing")
                return
            }
            #expect(sentence.contains("still hangs"))
        }
        #expect(module.count("C_GetSlotList") == 1)
        try barrier.letGo()
        try await eventually("it is opened") { await refusal(of: uri) == nil }
    }
}
