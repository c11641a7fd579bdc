import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Two keys on one token, one of them failing", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct FailingKeyTests {
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let uri: String

    init() throws {
        let hsm = try SoftHSM.shared.get()
        module = try FaultyModule.shared.get()
        token = try hsm.makeToken()
        try token.generateKey(label: "WELL", id: [1])
        try token.generateKey(label: "ILL", id: [2])
        uri = token.uri("object=WELL", modulePath: module.path)
        try module.fresh()
    }

    private func withKeys(
        _ settings: [String: PluginSettings.Value],
        _ body: (PKCS11TokenBackend, _ well: any SigningKey, _ failing: any SigningKey) async throws -> Void
    ) async throws {
        let other = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=ILL", modulePath: module.path)))
        try await withKey(uri, settings) { backend, well in
            try await body(backend, well, try await backend.key(other.selector))
        }
    }

    static let answers = ["0x200", "0x80000001", "0x5", "0x30", "0x6", "0xE0", "0x101"]

    @Test(
        "a failing key costs the other key no request, no login and no session",
        arguments: answers, ["C_SignInit", "C_Sign"])
    func neighbour(_ answer: String, _ function: String) async throws {
        try await withKeys(["sessions": .integer(2)]) { backend, well, failing in
            let opened = module.count("C_OpenSession")
            try module.follow("\(function) label=ILL rv=\(answer)")
            for _ in 0..<50 {
                guard case .unavailable = await fault(failing) else {
                    Issue.record("a key that is ill signs")
                    return
                }
                #expect(await fault(well) == nil)
            }
            #expect(module.count("C_OpenSession") == opened)
            #expect(module.count("C_Login") == 1)
            #expect(await backend.health() == .ready)
            // Two attempts for each of the first five requests, and for one request after each pause.
            #expect(module.count("fault \(function)") <= 20)
        }
    }

    @Test("a key that failed for a short time signs again without an order")
    func recovery() async throws {
        try await withKeys(["sessions": .integer(2)]) { _, well, failing in
            try module.follow("C_Sign label=ILL rv=0x200")
            #expect(await fault(failing) != nil)
            try module.follow()
            try await eventually("it signs again") { await fault(failing) == nil }
            #expect(await fault(well) == nil)
        }
    }

    @Test("the backend retries a failed signature, and the caller sees no error")
    func transient() async throws {
        try await withKeys(["sessions": .integer(1)]) { _, _, failing in
            try module.follow("C_Sign label=ILL to=1 rv=0x200")
            #expect(await fault(failing) == nil)
        }
    }

    @Test("a key that leaves its operation open costs its own session only")
    func operationLeftOpen() async throws {
        try await withKeys(["sessions": .integer(2)]) { backend, well, failing in
            try module.follow("C_Sign label=ILL rv=0x150")
            for _ in 0..<50 {
                #expect(await fault(failing) != nil)
                #expect(await fault(well) == nil)
            }
            try await eventually("it is ready") { await backend.health() == .ready }
            #expect(module.count("C_Login") == 1)
            #expect(module.count("C_Initialize") == 1)
        }
    }

    @Test("two consecutive failures do not pause a key", arguments: [1, 2])
    func chance(_ sessions: Int) async throws {
        try await withKeys(["sessions": .integer(sessions)]) { _, _, failing in
            try module.follow("C_Sign label=ILL to=2 rv=0x30", "C_Sign label=ILL from=4 to=5 rv=0x30")
            #expect(await fault(failing) != nil)
            #expect(await fault(failing) == nil)
            #expect(await fault(failing) != nil)
            #expect(await fault(failing) == nil)
        }
    }

    @Test("the backend searches again for a key whose handle C_Sign calls invalid", arguments: ["0x60", "0x82"])
    func staleHandle(_ answer: String) async throws {
        try await withKeys(["sessions": .integer(2)]) { _, _, failing in
            let searches = module.count("C_FindObjectsInit")
            try module.follow("C_Sign label=ILL rv=\(answer)")
            #expect(await fault(failing) != nil)
            try await eventually("it is sought") { module.count("C_FindObjectsInit") > searches }
        }
    }

    @Test("a key whose search fails does not block the session recovery of other keys")
    func searchFails() async throws {
        try await withKeys(["sessions": .integer(2)]) { _, well, failing in
            let search = "C_GetAttributeValue label=ILL rv=0x5"
            try module.follow("C_SignInit label=ILL rv=0x60", search)
            #expect(await fault(failing) != nil)
            try module.follow("C_SignInit label=WELL to=2 rv=0xB3", search)
            _ = await fault(well)
            try await eventually("it signs again") { await fault(well) == nil }
            #expect(module.count("C_Initialize") == 1)
            #expect(module.count("C_Login") == 1)
            try module.follow()
            try await eventually("the other one is found") { await fault(failing) == nil }
        }
    }

    @Test("a key with hanging calls gets no further sessions, and the other key signs")
    func hanging() async throws {
        let settings: [String: PluginSettings.Value] = ["sessions": .integer(2), "operationTimeout": .integer(1)]
        try await withKeys(settings) { backend, well, failing in
            let barrier = module.barrier()
            try module.follow("C_Sign label=ILL hang=\(barrier.file.path)")
            for _ in 0..<8 {
                guard case .unavailable = await fault(failing) else {
                    Issue.record("a call that hangs gives no signature")
                    return
                }
                #expect(await fault(well) == nil)
            }
            #expect((await backend.report().pool?.hungCalls ?? 0) <= 2)
            try barrier.letGo()
            try module.follow()
            try await eventually("it signs again") { await fault(failing) == nil }
            try await eventually("it is ready") { await backend.health() == .ready }
        }
    }

    @Test("the operator's order ends the failure pause of a key")
    func order() async throws {
        try await withKeys(["sessions": .integer(2)]) { _, _, failing in
            try module.follow("C_Sign label=ILL rv=0x30")
            // Five requests, then one after each pause of 100, 200 and 400 ms; the next pause is 800 ms.
            try await eventually("the pause is long") {
                _ = await fault(failing)
                return module.count("fault C_Sign") >= 2 * 8
            }
            try module.follow()
            #expect(await fault(failing) != nil)
            failing.endFailurePause()
            #expect(await fault(failing) == nil)
        }
    }

    @Test(
        "a failing key costs a key with context logins no request and no session",
        arguments: ["0x5", "0x200", "0x30", "0x60"], ["C_SignInit", "C_Sign"])
    func neighbourThatAsks(_ answer: String, _ function: String) async throws {
        try token.generateKey(label: "CAREFUL", id: [3], .with { $0.alwaysAuthenticates = true })
        try module.fresh()
        let uri = token.uri("object=CAREFUL", modulePath: module.path)
        try await withKey(uri, ["sessions": .integer(2)]) { backend, careful in
            let other = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=ILL", modulePath: module.path)))
            let failing = try await backend.key(other.selector)
            let opened = module.count("C_OpenSession")
            try module.follow("\(function) label=ILL rv=\(answer)")
            for _ in 0..<30 {
                #expect(await fault(failing) != nil)
                #expect(await fault(careful) == nil)
            }
            #expect(module.count("C_OpenSession") == opened)
            // Lost sessions are still replaced.
            try module.follow("\(function) label=ILL rv=\(answer)", "C_SignInit label=CAREFUL to=2 rv=0xB3")
            #expect(await fault(careful) != nil)
            try await eventually("it signs again") { await fault(careful) == nil }
            try await eventually("its sessions are back") {
                await backend.report().pool.map { $0.ready == $0.wanted } == true
            }
            #expect(module.count("login user=0x1 pin=given rv=0x0") == 1)
            #expect(module.count("C_Initialize") == 1)
        }
    }

    @Test("a token with which no key signs recovers")
    func bothIll() async throws {
        try await withKeys(["sessions": .integer(2)]) { backend, well, failing in
            try module.follow("C_SignInit to=12 rv=0x30")
            try await eventually("both fail") { await fault(well) != nil }
            try await eventually("the first signs again") { await fault(well) == nil }
            try await eventually("the second signs again") { await fault(failing) == nil }
        }
    }
}
