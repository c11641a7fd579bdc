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
            // Two attempts of the first request, and one more for each second or so that passed.
            #expect(module.count("fault \(function)") <= 6)
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
