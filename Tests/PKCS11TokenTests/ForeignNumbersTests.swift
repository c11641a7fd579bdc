import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("What a module answers beside its return value", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct ForeignNumbersTests {
    private let module: FaultyModule
    private let uri: String

    init() throws {
        let hsm = try SoftHSM.shared.get()
        module = try FaultyModule.shared.get()
        let token = try hsm.makeToken()
        try token.generateKey(label: "KEY", id: [1])
        uri = token.uri("object=KEY", modulePath: module.path)
        try module.fresh()
    }

    static let numbers = ["0xFFFFFFFFFFFFFFFF", "0x4000000000000000", "0x10000000000", "0xFFFFFFFF"]

    @Test(
        "a length or count that cannot be is an error, and takes neither the process nor its memory",
        arguments: ["C_GetSlotList", "C_FindObjects", "C_GetAttributeValue"], numbers)
    func opening(_ function: String, _ number: String) async throws {
        try module.follow("\(function) length=\(number)")
        let refusal = await refusal(of: uri)
        #expect(refusal != nil)
        if number != "0xFFFFFFFFFFFFFFFF" || function != "C_GetAttributeValue" {
            #expect(refusal?.description.contains(function) == true, "\(String(describing: refusal))")
        }
        try module.follow()
        #expect(await self.refusal(of: uri) == nil)
    }

    private func refusal(of uri: String) async -> KeyError? { await PKCS11TokenTests.refusal(of: uri) }

    @Test("a signature of a length that cannot be is an error", arguments: numbers)
    func signature(_ number: String) async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { _, key in
            try module.follow("C_Sign to=2 length=\(number)")
            #expect(await fault(key) != nil)
            try await eventually("it signs again") { await fault(key) == nil }
        }
    }

    @Test("a list of mechanisms or a wrapped key of a length that cannot be is an error", arguments: numbers)
    func inspection(_ number: String) async throws {
        try await withKey(uri) { backend, key in
            let selector = try PKCS11TokenBackend.address(of: KeyURI(uri)).selector
            try module.follow("C_GetMechanismList length=\(number)")
            await #expect(throws: KeyError.self) { try await backend.inspect(selector) }
            try module.follow("C_WrapKey length=\(number)")
            _ = try? await backend.inspect(selector)
            try module.follow()
            _ = try await backend.inspect(selector)
            #expect(await fault(key) == nil)
        }
    }

    @Test(
        "a function that the module left out is named",
        arguments: [
            "C_Initialize", "C_Finalize", "C_GetSlotList", "C_GetTokenInfo", "C_OpenSession", "C_CloseSession",
            "C_GetSessionInfo", "C_Login", "C_FindObjectsInit", "C_FindObjects", "C_FindObjectsFinal",
            "C_GetAttributeValue",
        ])
    func leftOut(_ function: String) async throws {
        try module.follow("\(function) null")
        let refusal = await refusal(of: uri)
        // A token that does not tell what it is is one that is not found.
        let isHidden = function == "C_GetTokenInfo"
        #expect(
            refusal?.description.contains(isHidden ? "No token" : function) == true, "\(String(describing: refusal))")
        try module.follow()
    }

    @Test("a module that gives a function list that is NULL is refused, and the process goes on")
    func noList() async throws {
        try module.follow("C_GetFunctionList null")
        let refusal = await refusal(of: uri)
        #expect(refusal?.description.contains("function list is NULL") == true, "\(String(describing: refusal))")
        try module.follow()
        #expect(await self.refusal(of: uri) == nil)
    }

    @Test("a function for signing that the module left out is named", arguments: ["C_SignInit", "C_Sign"])
    func leftOutForSigning(_ function: String) async throws {
        try module.follow("\(function) null")
        try await withKey(uri, ["sessions": .integer(1)]) { _, key in
            guard case .failed(let sentence) = await fault(key) else {
                Issue.record("a module without \(function) signs")
                return
            }
            #expect(sentence.contains(function), "\(sentence)")
        }
        try module.follow()
    }
}
