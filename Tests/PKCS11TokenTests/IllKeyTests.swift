import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Two keys on one token, of which one is ill", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct IllKeyTests {
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let uri: String

    init() throws {
        let hsm = try SoftHSM.shared.get()
        try hsm.removeTokens()
        module = try FaultyModule.shared.get()
        token = try hsm.makeToken()
        try token.generateKey(label: "WELL", id: [1])
        try token.generateKey(label: "ILL", id: [2])
        uri = token.uri("object=WELL", modulePath: module.path)
        try module.fresh()
    }

    /// Opens both keys with one backend.
    private func withKeys(
        _ settings: [String: KeyBackendSettings.Value],
        _ body: (PKCS11TokenBackend, _ well: any SigningKey, _ ill: any SigningKey) async throws -> Void
    ) async throws {
        let other = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=ILL", modulePath: module.path)))
        try await withKey(uri, settings) { backend, well in
            try await body(backend, well, try await backend.key(other.selector))
        }
    }

    static let answers = ["0x200", "0x80000001", "0x5", "0x30", "0x6", "0xE0", "0x101"]

    @Test(
        "while one key fails with whatever the token answers, the other one signs every request, with one login and no new session",
        arguments: answers, ["C_SignInit", "C_Sign"])
    func neighbour(_ answer: String, _ function: String) async throws {
        try await withKeys(["sessions": .integer(2)]) { backend, well, ill in
            let opened = module.count("C_OpenSession")
            try module.follow("\(function) label=ILL rv=\(answer)")
            for _ in 0..<50 {
                guard case .unavailable = await fault(ill) else {
                    Issue.record("a key that is ill signs")
                    return
                }
                #expect(await fault(well) == nil)
            }
            #expect(module.count("C_OpenSession") == opened)
            #expect(module.count("C_Login") == 1)
            #expect(await backend.health() == .ready)
            // Two attempts of each of the first five requests, and of one after each pause.
            #expect(module.count("fault \(function)") <= 20)
        }
    }

    @Test("a key that is ill for a moment serves again by itself")
    func recovery() async throws {
        try await withKeys(["sessions": .integer(2)]) { _, well, ill in
            try module.follow("C_Sign label=ILL rv=0x200")
            #expect(await fault(ill) != nil)
            try module.follow()
            try await eventually("it signs again") { await fault(ill) == nil }
            #expect(await fault(well) == nil)
        }
    }

    @Test("one error of a key that signs the next time is not seen by its caller")
    func transient() async throws {
        try await withKeys(["sessions": .integer(1)]) { _, _, ill in
            try module.follow("C_Sign label=ILL to=1 rv=0x200")
            #expect(await fault(ill) == nil)
        }
    }

    @Test("a key that leaves its operation open costs its own session, and not that of its neighbour")
    func operationLeftOpen() async throws {
        try await withKeys(["sessions": .integer(2)]) { backend, well, ill in
            try module.follow("C_Sign label=ILL rv=0x150")
            for _ in 0..<50 {
                #expect(await fault(ill) != nil)
                #expect(await fault(well) == nil)
            }
            try await eventually("it is ready") { await backend.health() == .ready }
            #expect(module.count("C_Login") == 1)
            #expect(module.count("C_Initialize") == 1)
        }
    }

    @Test("two failures in a row are chance: the next request is signed", arguments: [1, 2])
    func chance(_ sessions: Int) async throws {
        try await withKeys(["sessions": .integer(sessions)]) { _, _, ill in
            try module.follow("C_Sign label=ILL to=2 rv=0x30", "C_Sign label=ILL from=4 to=5 rv=0x30")
            #expect(await fault(ill) != nil)
            #expect(await fault(ill) == nil)
            #expect(await fault(ill) != nil)
            #expect(await fault(ill) == nil)
        }
    }

    @Test("a key whose handle C_Sign calls invalid is sought again", arguments: ["0x60", "0x82"])
    func staleHandle(_ answer: String) async throws {
        try await withKeys(["sessions": .integer(2)]) { _, _, ill in
            let searches = module.count("C_FindObjectsInit")
            try module.follow("C_Sign label=ILL rv=\(answer)")
            #expect(await fault(ill) != nil)
            try await eventually("it is sought") { module.count("C_FindObjectsInit") > searches }
        }
    }

    @Test("a key whose search fails does not keep lost sessions of the others from coming back")
    func searchFails() async throws {
        try await withKeys(["sessions": .integer(2)]) { _, well, ill in
            let search = "C_GetAttributeValue label=ILL rv=0x5"
            try module.follow("C_SignInit label=ILL rv=0x60", search)
            #expect(await fault(ill) != nil)
            try module.follow("C_SignInit label=WELL to=2 rv=0xB3", search)
            _ = await fault(well)
            try await eventually("it signs again") { await fault(well) == nil }
            #expect(module.count("C_Initialize") == 1)
            #expect(module.count("C_Login") == 1)
            try module.follow()
            try await eventually("the other one is found") { await fault(ill) == nil }
        }
    }

    @Test("a key whose calls hang gets no further sessions, and its neighbour signs")
    func hanging() async throws {
        let settings: [String: KeyBackendSettings.Value] = ["sessions": .integer(2), "operationTimeout": .integer(1)]
        try await withKeys(settings) { backend, well, ill in
            let barrier = module.barrier()
            try module.follow("C_Sign label=ILL hang=\(barrier.file.path)")
            for _ in 0..<8 {
                guard case .unavailable = await fault(ill) else {
                    Issue.record("a call that hangs gives no signature")
                    return
                }
                #expect(await fault(well) == nil)
            }
            #expect((await backend.report().pool?.stuck ?? 0) <= 2)
            try barrier.letGo()
            try module.follow()
            try await eventually("it signs again") { await fault(ill) == nil }
            try await eventually("it is ready") { await backend.health() == .ready }
        }
    }

    @Test("a person's order ends the pause of a key that is ill")
    func order() async throws {
        try await withKeys(["sessions": .integer(2)]) { _, _, ill in
            try module.follow("C_Sign label=ILL rv=0x30")
            // Five requests, and trials after 100, 200 and 400 ms; then 800 ms follow.
            try await eventually("the pause is long") {
                _ = await fault(ill)
                return module.count("fault C_Sign") >= 2 * 8
            }
            try module.follow()
            #expect(await fault(ill) != nil)
            ill.tryAgain()
            #expect(await fault(ill) == nil)
        }
    }

    @Test(
        "while one key fails, a neighbour that asks for its PIN each time signs every request, with the same sessions",
        arguments: ["0x5", "0x200", "0x30", "0x60"], ["C_SignInit", "C_Sign"])
    func neighbourThatAsks(_ answer: String, _ function: String) async throws {
        try token.generateKey(label: "CAREFUL", id: [3], .with { $0.alwaysAuthenticates = true })
        try module.fresh()
        let uri = token.uri("object=CAREFUL", modulePath: module.path)
        try await withKey(uri, ["sessions": .integer(2)]) { backend, careful in
            let other = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=ILL", modulePath: module.path)))
            let ill = try await backend.key(other.selector)
            let opened = module.count("C_OpenSession")
            try module.follow("\(function) label=ILL rv=\(answer)")
            for _ in 0..<30 {
                #expect(await fault(ill) != nil)
                #expect(await fault(careful) == nil)
            }
            #expect(module.count("C_OpenSession") == opened)
            // Sessions that are lost come back all the same.
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

    @Test("a token that signs with no key any more is mended as before")
    func bothIll() async throws {
        try await withKeys(["sessions": .integer(2)]) { backend, well, ill in
            try module.follow("C_SignInit to=12 rv=0x30")
            try await eventually("both fail") { await fault(well) != nil }
            try await eventually("the first signs again") { await fault(well) == nil }
            try await eventually("the second signs again") { await fault(ill) == nil }
        }
    }
}
