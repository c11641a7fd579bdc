import Crypto
import KeyTransport
import PKCS11
import PKCS11Token
import SigningKit
import SoftHSMTesting
import Testing

@Suite("Mechanisms of an import", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct ImportMechanismTests {
    private let module: FaultyModule
    private let token: SoftHSMToken
    private let key = P256.Signing.PrivateKey()
    private var uri: String { token.uri("object=KEY", modulePath: module.path) }

    /// CKM_AES_KEY_WRAP_PAD is missing; CKM_AES_KEY_WRAP_KWP replaces it.
    private static let onlyKWP = [
        "C_GetMechanismInfo mechanism=0x210a rv=0x70", "C_GetMechanismInfo mechanism=0x210b as=0x210a",
        "C_UnwrapKey mechanism=0x210a rv=0x70", "C_UnwrapKey mechanism=0x210b as=0x210a",
    ]

    init() throws {
        module = try FaultyModule.shared.get()
        token = try SoftHSM.shared.get().makeToken(modulePath: module.path)
        try module.fresh()
    }

    private func follow(_ rules: [String]) throws { try module.follow(rules.joined(separator: "\n")) }

    private func expectSignature() async throws {
        try module.follow()
        try await withKey(uri) { _, opened in
            #expect(opened.publicKey.rawRepresentation == key.publicKey.rawRepresentation)
            #expect(await fault(opened) == nil)
        }
    }

    private func makeWrappingKey() async throws -> GeneratedWrappingKey {
        try await withProvisioningSession(token.uri("object=WRAPPING", modulePath: module.path)) {
            provisioningSession, selector in
            try await provisioningSession.makeWrappingKey(as: selector)
        }
    }

    @Test("an import uses CKM_AES_KEY_WRAP_KWP on a token without CKM_AES_KEY_WRAP_PAD")
    func paddedWrapOfVersion3() async throws {
        try follow(Self.onlyKWP)
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        try await expectSignature()
    }

    @Test("an import of a package uses CKM_AES_KEY_WRAP_KWP on a token without CKM_AES_KEY_WRAP_PAD")
    func packageOfVersion3() async throws {
        let package = try WrappingKey(pem: WrappingKey.file(await makeWrappingKey())).wrap(material(key))
        try follow(Self.onlyKWP)
        #expect(try await importKey(.wrapped(package), uri).method == .unwrappedPackage)
        try await expectSignature()
    }

    @Test(
        "an import tries the next mechanism if C_UnwrapKey denies one that the token lists",
        arguments: ["0x70", "0x71"])
    func fallback(_ answer: String) async throws {
        try follow([
            "C_GetMechanismInfo mechanism=0x210b as=0x210a", "C_UnwrapKey mechanism=0x210b rv=\(answer)",
        ])
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        try await expectSignature()
    }

    @Test("an import uses a temporary RSA pair on a token without AES block encryption")
    func pair() async throws {
        try follow(["C_GetMechanismInfo mechanism=0x1081 rv=0x70"])
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        #expect(module.count("C_EncryptInit") == 0)
        try await expectSignature()
        #expect(try token.objectCount() == 2, "a private and a public key, and no RSA pair")
    }

    @Test("an import into a token that denies every listed mechanism requires allowsClear")
    func denied() async throws {
        try follow(["C_UnwrapKey rv=0x70"])
        let refused = await sentence { try await importKey(.plain(material(key)), uri) }
        #expect(refused?.contains("--allow-clear-import") == true, "\(refused ?? "")")
        #expect(module.count("C_CreateObject") == 0)
        try module.follow()
        #expect(try token.objectCount() == 0)
        try follow(["C_UnwrapKey rv=0x70"])
        let placed = try await importKey(.plain(material(key)), uri, allowsClear: true)
        #expect(placed.method == .created)
        #expect(placed.warnings.contains { $0.contains("in the clear") })
        try await expectSignature()
        #expect(try token.objectCount() == 2, "a private and a public key, and no RSA pair")
    }

    @Test("an import of a package uses CKM_RSA_AES_KEY_WRAP, or two calls if C_UnwrapKey denies it")
    func rsaAES() async throws {
        let package = try WrappingKey(pem: WrappingKey.file(await makeWrappingKey())).wrap(material(key))
        let listed = "C_GetMechanismInfo mechanism=0x1054 as=0x9"
        try follow([
            listed, "C_UnwrapKey mechanism=0x1054 split", "C_UnwrapKey mechanism=0x9 rv=0x70",
            "C_UnwrapKey mechanism=0x210a rv=0x70",
        ])
        #expect(try await importKey(.wrapped(package), uri).method == .unwrappedPackage)
        try await expectSignature()
        try token.removeKey(label: "KEY")
        try follow([listed, "C_UnwrapKey mechanism=0x1054 rv=0x70"])
        #expect(try await importKey(.wrapped(package), uri).method == .unwrappedPackage)
        try await expectSignature()
        try token.removeKey(label: "KEY")
        // Some modules return CKR_ARGUMENTS_BAD for a hash that they lack.
        try follow([listed, "C_UnwrapKey mechanism=0x1054 rv=0x7"])
        #expect(try await importKey(.wrapped(package), uri).method == .unwrappedPackage)
    }

    @Test("an import uses the mechanism list of a module without C_GetMechanismInfo")
    func noMechanismInfo() async throws {
        try follow(["C_GetMechanismInfo rv=0x54"])
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        try await expectSignature()
    }

    @Test(
        "a wrapping key for SHA-1 says so, and a package with SHA-256 is refused with the cure")
    func hash() async throws {
        let made = try await makeWrappingKey()
        #expect(made.hash == .sha1)
        let package = try WrappingKey(pem: WrappingKey.file(made)).wrap(material(key), .sha256)
        let refused = await sentence { try await importKey(.wrapped(package), uri) }
        #expect(refused?.contains("RSA-OAEP with SHA-256") == true)
        #expect(refused?.contains("keys wrapping-key") == true)
    }

    @Test("an import and a generation refuse a token without CKM_ECDSA before they send anything")
    func signing() async throws {
        try follow(["C_GetMechanismInfo mechanism=0x1041 rv=0x70"])
        let refused = await sentence { try await importKey(.plain(material(key)), uri, allowsClear: true) }
        #expect(refused?.contains("CKM_ECDSA") == true)
        let generated = await sentence {
            _ = try await withProvisioningSession(uri) {
                try await $0.generate(as: $1, isResumed: false, tell: { _ in })
            }
        }
        #expect(generated?.contains("CKM_ECDSA") == true)
        for function in ["C_GenerateKey", "C_GenerateKeyPair", "C_UnwrapKey", "C_CreateObject", "C_EncryptInit"] {
            #expect(module.count(function) == 0, "\(function)")
        }
    }

    @Test(
        "an import keeps the private key and warns if the token stores no public key",
        arguments: ["0x13", "0x54", "0x5", "0x6", "0x7", "0x30", "0x31", "0xB5"])
    func publicKey(_ answer: String) async throws {
        try follow(["C_CreateObject rv=\(answer)"])
        let placed = try await importKey(.plain(material(key)), uri)
        #expect(placed.method == .unwrapped)
        #expect(placed.lacksPublicKey)
        #expect(placed.warnings.contains { $0.contains("publicKeyFile") })
        #expect(try token.objects([Attribute(.privateKey)]).count == 1)
        try module.follow()
        try await withKey(uri, publicKey: Array(key.publicKey.x963Representation)) { _, opened in
            #expect(await fault(opened) == nil)
        }
        #expect(try await importKey(.plain(material(key)), uri).method == .found)
    }

    @Test(
        "an import omits the attributes that the token does not know and reports them",
        arguments: [("0x109", "CKA_SIGN_RECOVER"), ("0x10c", "CKA_DERIVE"), ("0x105", "CKA_DECRYPT")])
    func attributes(_ number: String, _ name: String) async throws {
        try follow([
            "C_UnwrapKey mechanism=0x210a attribute=\(number) rv=0x12",
            "C_GenerateKeyPair mechanism=0x1040 attribute=\(number) rv=0x12",
            "C_GetAttributeValue attribute=\(number) rv=0x12",
        ])
        let placed = try await importKey(.plain(material(key)), uri)
        #expect(placed.warnings.contains { $0.contains("does not accept") && $0.contains(name) })
        #expect(placed.attributes.contains { $0.name == "CKA_EXTRACTABLE" && $0.value == "false" })
        let made = try await withProvisioningSession(token.uri("object=MADE", modulePath: module.path)) {
            try await $0.generate(as: $1, isResumed: false, tell: { _ in })
        }
        #expect(made.warnings.contains { $0.contains("does not accept") && $0.contains(name) })
        try await expectSignature()
    }

    @Test("a wrapping pair omits CKA_SIGN_RECOVER and CKA_DERIVE on a token that does not know them")
    func wrappingPair() async throws {
        try follow([
            "C_GenerateKeyPair mechanism=0x0 attribute=0x109 rv=0x12",
            "C_GenerateKeyPair mechanism=0x0 attribute=0x10c rv=0x12",
        ])
        #expect(try await makeWrappingKey().hash == .sha1)
    }

    @Test("an import succeeds on a token without session objects")
    func noSessionObjects() async throws {
        try follow(["C_UnwrapKey mechanism=0x210a to=18 rv=0x13"])
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        try await expectSignature()
    }
}
