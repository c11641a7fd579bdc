import Crypto
import Foundation
import PKCS11
import PKCS11Token
import SigningKit
import SigningKitTesting
import SoftHSMTesting
import Testing

@Suite("Conformance of the PKCS #11 backend", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct ConformanceTests {
    @Test("SoftHSM meets the key backend contract")
    func conformance() async throws {
        let token = try SoftHSM.shared.get().makeToken()
        try token.generateKey(label: "KEY", id: [0x01])
        try token.generateKey(label: "TWIN", id: [0x02])
        try token.generateKey(label: "TWIN", id: [0x03])
        try token.generateKey(.p384, label: "P384", id: [0x04])
        let path = token.modulePath
        try await KeyBackendConformance<PKCS11TokenBackend>(
            uri: token.uri("object=KEY"),
            secrets: FileSecrets(),
            custody: .token,
            missingKeys: [
                token.uri("object=NONE"), token.uri("object=KEY;id=%02"),
                "pkcs11:token=none;object=KEY?module-path=\(path)&pin-source=file:\(token.pinFile.path)",
                "pkcs11:token=\(token.label);object=KEY?module-path=/no/such.so",
            ],
            ambiguousKeys: .has([token.uri("object=TWIN"), token.uri("")]),
            misconfigurations: [
                Misconfiguration("pkcs11:object=KEY?module-path=\(path)", .invalidURI, mentions: "name the token"),
                Misconfiguration(
                    "pkcs11:token=\(token.label);object=KEY?module-path=\(path)", .secretUnavailable,
                    mentions: "pin-source"),
                Misconfiguration(token.uri("object=P384"), .unfit, mentions: "P-384"),
                Misconfiguration(
                    token.uri("object=KEY"), settings: ["sessions": .integer(0)], .invalidSetting, mentions: "from 1"),
            ],
            queue: .has(.init(settings: ["sessions": .integer(1), "queueLimit": .integer(4)])),
            custodyProof: .has { try Self.cannotBeRead(token) },
            confidential: [token.pin, token.pinFile.path]
        ).run()
    }

    /// Tries to read the key as another program of the same user would.
    private static func cannotBeRead(_ token: SoftHSMToken) throws {
        let module = try Module.open(path: token.modulePath)
        defer { module.close() }
        let slot = try #require(try module.slots().first { try module.tokenInfo(of: $0).serial == token.serial })
        let session = try Session(on: slot, of: module)
        defer { try? session.close() }
        try Array(token.pin.utf8).withUnsafeBytes { try session.login(pin: $0) }
        let wanted = [Attribute(.privateKey), Attribute(.label, text: "KEY")]
        let key = try #require(try session.objects(with: wanted).first)
        #expect(try session.revealsValue(of: key).refusal == .attributeSensitive)
    }
}

@Suite("Conformance of the fake backend", .timeLimit(.minutes(1)))
struct FakeConformanceTests {
    @Test("the fake backend meets the key backend contract")
    func conformance() async throws {
        let place = FakeBackendLocation("conformance")
        place.add("KEY")
        try await KeyBackendConformance<FakeKeyBackend>(
            uri: "fake:conformance;key=KEY",
            secrets: FileSecrets(),
            custody: .process,
            missingKeys: ["fake:conformance;key=NONE", "fake:nowhere;key=KEY"],
            ambiguousKeys: .lacks("names are unique in a place"),
            misconfigurations: [Misconfiguration("fake:conformance", .invalidURI, mentions: "fake:PLACE")],
            queue: .lacks("it signs at once unless a test holds it"),
            custodyProof: .lacks("the process holds the key"),
            confidential: ["no secret"]
        ).run()
    }
}
