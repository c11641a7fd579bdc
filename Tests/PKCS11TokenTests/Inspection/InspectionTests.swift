import Crypto
import Foundation
import PKCS11
import SigningKit
import SoftHSMTesting
import Testing

@testable import PKCS11Token

@Suite("Inspection of keys on a token", .serialized, .softHSM, .timeLimit(.minutes(1)))
struct InspectionTests {
    private let token: SoftHSMToken

    init() throws {
        token = try SoftHSM.shared.get().makeToken()
    }

    @Test("inspect shows that a generated key is local and that no probe exports it")
    func generated() async throws {
        try token.generateKey(label: "KEY", id: [1])
        let key = try await inspect("object=KEY")
        #expect(key.fingerprint != nil)
        #expect(key.value(of: "CKA_CLASS") == "CKO_PRIVATE_KEY")
        #expect(key.value(of: "CKA_KEY_TYPE") == "CKK_EC")
        #expect(key.value(of: "CKA_EC_PARAMS") == "P-256")
        for name in ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE", "CKA_SENSITIVE", "CKA_SIGN"] {
            #expect(key.value(of: name) == "TRUE", "\(name)")
        }
        #expect(key.value(of: "CKA_EXTRACTABLE") == "FALSE")
        #expect(key.value(of: "CKA_KEY_GEN_MECHANISM") == "CKM_EC_KEY_PAIR_GEN")
        #expect(key.value(of: "CKA_ID") == "01")
        #expect(key.value(of: "CKA_LABEL") == "KEY")
        #expect(key.probes?.value == .refused(answer: "CKR_ATTRIBUTE_SENSITIVE"))
        #expect(key.probes?.wrap == .refused(answer: "CKR_KEY_UNEXTRACTABLE"))
        #expect(key.objects == InspectedTokenKey.Objects(uri: 1, id: 1, label: 1))
    }

    @Test("inspect does not show an imported key as local")
    func imported() async throws {
        let pair = P256.Signing.PrivateKey()
        try token.importKey(pair, label: "KEY", id: [1])
        let key = try await inspect("object=KEY")
        for name in ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE"] {
            #expect(key.value(of: name) == "FALSE", "\(name)")
        }
        #expect(key.value(of: "CKA_KEY_GEN_MECHANISM") == "none known")
        #expect(key.fingerprint == PublicKeyFingerprint(of: pair.publicKey))
        #expect(key.probes?.wrap == .refused(answer: "CKR_KEY_UNEXTRACTABLE"))
    }

    @Test("inspect works for an unfit key and finds how the token exports it")
    func unprotected() async throws {
        try token.generateKey(label: "KEY", id: [1], .with { $0.isExtractable = true })
        try token.generateKey(
            label: "OPEN", id: [2],
            .with {
                $0.isExtractable = true
                $0.isSensitive = false
            })
        let wrappable = try await inspect("object=KEY")
        #expect(
            wrappable.probes
                == NegativeProbes.Answers(
                    value: .refused(answer: "CKR_ATTRIBUTE_SENSITIVE"), wrap: .given))
        let open = try await inspect("object=OPEN")
        #expect(open.probes == NegativeProbes.Answers(value: .given, wrap: .given))
    }

    @Test("inspect counts the keys that share a name")
    func shared() async throws {
        try token.generateKey(label: "KEY", id: [1])
        try token.generateKey(label: "KEY", id: [2])
        try token.generateKey(label: "OTHER", id: [2])
        let both = try await inspect("object=KEY")
        #expect(both.objects.uri == 2)
        #expect(both.attributes.isEmpty && both.probes == nil && both.fingerprint == nil)
        let one = try await inspect("object=KEY;id=%02")
        #expect(one.objects == InspectedTokenKey.Objects(uri: 1, id: 2, label: 2))
        let none = try await inspect("object=NONE")
        #expect(none.objects.uri == 0)
    }

    @Test("inspect reports the token, its library and the library's digest")
    func place() async throws {
        try token.generateKey(label: "KEY", id: [1])
        let seen = try await inspect("object=KEY").token
        #expect(seen.info.label == token.label && seen.info.serial == token.serial)
        #expect(seen.info.manufacturer == "SoftHSM project" && seen.info.model == "SoftHSM v2")
        #expect(seen.flags.contains("CKF_LOGIN_REQUIRED") && seen.flags.contains("CKF_RNG"))
        #expect(!seen.flags.contains("CKF_USER_PIN_COUNT_LOW"))
        #expect(seen.slotFlags == ["CKF_TOKEN_PRESENT"])
        #expect(seen.mechanisms.contains("CKM_ECDSA"))
        let file = try Data(contentsOf: URL(filePath: seen.path))
        #expect(seen.digest == SHA256.hash(data: file).map { String(format: "%02x", $0) }.joined())
        #expect(seen.library.cryptokiVersion.hasPrefix("2."))
    }

    @Test("inspect reports an earlier wrong PIN although its own login resets the flag")
    func pinCount() async throws {
        try token.generateKey(label: "KEY", id: [1])
        let wrong = try token.pinFile(holding: "wrong")
        #expect(await refusal(of: token.uri("object=KEY", pinFile: wrong)) != nil)
        #expect(try await inspect("object=KEY").token.flags.contains("CKF_USER_PIN_COUNT_LOW"))
        #expect(try await !inspect("object=KEY").token.flags.contains("CKF_USER_PIN_COUNT_LOW"))
    }

    @Test("inspect leaves nothing behind, and the key signs as before")
    func traceless() async throws {
        try token.generateKey(label: "KEY", id: [1])
        try await withKey(token.uri("object=KEY")) { backend, key in
            let selector = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=KEY"))).selector
            let first = try await backend.inspect(selector)
            #expect(try await backend.inspect(selector) == first)
            let digest = SHA256.hash(data: [1])
            let signature = try await key.sign(digest)
            let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
            #expect(key.publicKey.isValidSignature(parsed, for: digest))
        }
    }

    @Test("a closed backend refuses an inspection")
    func closed() async throws {
        try token.generateKey(label: "KEY", id: [1])
        let (backend, _) = try await open(token.uri("object=KEY"))
        await backend.close()
        let selector = try PKCS11TokenBackend.address(of: KeyURI(token.uri("object=KEY"))).selector
        await #expect(throws: KeyError.closed) { try await backend.inspect(selector) }
    }

    private func inspect(_ name: String) async throws -> InspectedTokenKey {
        let address = try PKCS11TokenBackend.address(of: KeyURI(token.uri(name)))
        let environment = KeyBackendEnvironment(
            settings: try PluginSettings([:], for: PKCS11TokenBackend.settings), secrets: FileSecrets())
        let backend = try await PKCS11TokenBackend.open(address.locator, in: environment)
        do {
            let inspection = try await backend.inspectedKey(address.selector)
            await backend.close()
            return inspection
        } catch {
            await backend.close()
            throw error
        }
    }
}
