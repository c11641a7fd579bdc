import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Invalid numbers and missing functions of a module", .serialized, .softHSM, .timeLimit(.minutes(2)))
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
        "an invalid length or count is an error without a crash or a huge allocation",
        arguments: ["C_GetSlotList", "C_FindObjects", "C_GetAttributeValue"], numbers)
    func openAttempt(_ function: String, _ number: String) async throws {
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

    @Test("an attribute without a value is not a Boolean", arguments: ["0x162 CKA_EXTRACTABLE", "0x103 CKA_SENSITIVE"])
    func emptyAttribute(_ attribute: String) async throws {
        let (number, name) = (attribute.prefix { $0 != " " }, attribute.drop { $0 != " " }.dropFirst())
        try module.follow("C_GetAttributeValue attribute=\(number) length=0")
        guard case .unfit(let sentence) = await refusal(of: uri) else {
            Issue.record("a key is accepted, or refused in another way")
            return
        }
        #expect(sentence.contains("\(name) is missing"), "\(sentence)")
    }

    @Test("a signature of an invalid length is an error", arguments: numbers)
    func signature(_ number: String) async throws {
        try await withKey(uri, ["sessions": .integer(1)]) { _, key in
            try module.follow("C_Sign to=2 length=\(number)")
            #expect(await fault(key) != nil)
            try await eventually("it signs again") { await fault(key) == nil }
        }
    }

    @Test("a mechanism list or wrapped key of an invalid length is an error", arguments: numbers)
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
        "the error names a function that the module lacks",
        arguments: [
            "C_Initialize", "C_Finalize", "C_GetSlotList", "C_GetTokenInfo", "C_OpenSession", "C_CloseSession",
            "C_GetSessionInfo", "C_Login", "C_FindObjectsInit", "C_FindObjects", "C_FindObjectsFinal",
            "C_GetAttributeValue",
        ])
    func leftOut(_ function: String) async throws {
        try module.follow("\(function) null")
        let refusal = await refusal(of: uri)
        // The search does not find a token without C_GetTokenInfo.
        let isHidden = function == "C_GetTokenInfo"
        #expect(
            refusal?.description.contains(isHidden ? "No token" : function) == true, "\(String(describing: refusal))")
        try module.follow()
    }

    @Test("a module with a NULL function list is refused without a crash")
    func noList() async throws {
        try module.follow("C_GetFunctionList null")
        let refusal = await refusal(of: uri)
        #expect(refusal?.description.contains("function list is NULL") == true, "\(String(describing: refusal))")
        try module.follow()
        #expect(await self.refusal(of: uri) == nil)
    }

    @Test("the error names a signing function that the module lacks", arguments: ["C_SignInit", "C_Sign"])
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
