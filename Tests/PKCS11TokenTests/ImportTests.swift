import Crypto
import Foundation
import KeyTransport
import PKCS11
import PKCS11Token
import ProgramTesting
import SigningKit
import SoftHSMTesting
import StrictJSON
import Testing

@Suite("Provisioning of keys in a token", .serialized, .softHSM, .timeLimit(.minutes(2)))
struct ImportTests {
    private let token: SoftHSMToken
    private let key = P256.Signing.PrivateKey()
    private var uri: String { token.uri("object=KEY") }

    init() throws {
        token = try SoftHSM.shared.get().makeToken()
    }

    @Test("an unwrapped key signs through the backend and has the requested attributes")
    func unwrapped() async throws {
        let placed = try await importKey(.plain(material(key)), uri)
        #expect(placed.method == .unwrapped)
        // SoftHSM 2.6.1 does not allow setting CKA_COPYABLE.
        #expect(placed.warnings == ["The token ignored the template: CKA_COPYABLE is true and not false."])
        #expect(
            placed.evidence["CKA_ID"]
                == Insecure.SHA1.hash(data: key.publicKey.x963Representation).map { String(format: "%02x", $0) }
                .joined())
        let attributes = Dictionary(placed.attributes.map { ($0.name, $0.value) }) { first, _ in first }
        let wanted = [
            "CKA_TOKEN": "true", "CKA_PRIVATE": "true", "CKA_SENSITIVE": "true", "CKA_EXTRACTABLE": "false",
            "CKA_SIGN": "true", "CKA_SIGN_RECOVER": "false", "CKA_DECRYPT": "false", "CKA_UNWRAP": "false",
            "CKA_DERIVE": "false", "CKA_MODIFIABLE": "false", "CKA_COPYABLE": "true", "CKA_DESTROYABLE": "true",
            "CKA_LOCAL": "false", "CKA_ALWAYS_SENSITIVE": "false", "CKA_NEVER_EXTRACTABLE": "false",
            "CKA_VALUE": "refused: CKR_ATTRIBUTE_SENSITIVE", "CKA_EC_PARAMS": "P-256", "CKA_KEY_TYPE": "CKK_EC",
        ]
        #expect(attributes == wanted)
        try await withKey(uri) { _, opened in
            #expect(opened.publicKey.rawRepresentation == key.publicKey.rawRepresentation)
            #expect(await fault(opened) == nil)
        }
        #expect(try token.objectCount() == 2, "a private and a public key, and no AES key")
        try token.inspect { session in
            let object = try #require(try session.objects(with: [Attribute(.privateKey)]).first)
            let aes = try session.generateKey(
                .aesKeyGeneration,
                [Attribute(.isToken, false), Attribute(.valueLength, number: 32), Attribute(.wrap, true)])
            let error = #expect(throws: PKCS11Error.self) {
                try session.gives(object, under: aes, by: .aesKeyWrapPadded)
            }
            #expect(error?.returnValue == .keyUnextractable)
        }
    }

    @Test("only the token with the wrapping key opens a package")
    func wrapped() async throws {
        let der = try await withProvisioningSession(token.uri("object=WRAPPING")) { provisioningSession, selector in
            try await provisioningSession.makeWrappingKey(as: selector).der
        }
        let package = try WrappingKey(pem: PEM.text("PUBLIC KEY", der)).wrap(material(key))
        #expect(package.wrappingKey == PublicKeyFingerprint(ofDER: der))
        let read = try KeyPackage(parsing: JSONText.encode(KeyPackage(package))).key
        #expect(read == package)

        let other = try SoftHSM.shared.get().makeToken()
        let refused = await sentence { try await importKey(.wrapped(read), other.uri("object=KEY")) }
        #expect(refused?.contains("does not have") == true)
        #expect(try other.objectCount() == 0)

        let placed = try await importKey(.wrapped(read), uri)
        #expect(placed.method == .unwrappedPackage)
        try await withKey(uri) { _, opened in #expect(await fault(opened) == nil) }
        #expect(try token.objectCount() == 4)
    }

    @Test("a changed package or one with another public key leaves no object in the token")
    func forged() async throws {
        let der = try await withProvisioningSession(token.uri("object=WRAPPING")) { provisioningSession, selector in
            try await provisioningSession.makeWrappingKey(as: selector).der
        }
        let package = try WrappingKey(pem: PEM.text("PUBLIC KEY", der)).wrap(material(key))
        var bytes = package.encryptedKey
        bytes[20] ^= 1
        let changed = WrappedKey(
            wrappingKey: package.wrappingKey, publicKey: package.publicKey, encryptedAESKey: package.encryptedAESKey,
            encryptedKey: bytes)
        #expect(await sentence { try await importKey(.wrapped(changed), uri) }?.contains("damaged") == true)
        let exchanged = WrappedKey(
            wrappingKey: package.wrappingKey, publicKey: P256.Signing.PrivateKey().publicKey,
            encryptedAESKey: package.encryptedAESKey, encryptedKey: package.encryptedKey)
        #expect(await sentence { try await importKey(.wrapped(exchanged), uri) }?.contains("another key") == true)
        #expect(try token.objectCount() == 2, "the wrapping pair")
    }

    @Test("an import refuses a package with a key on another curve")
    func curve() async throws {
        let der = try await withProvisioningSession(token.uri("object=WRAPPING")) { provisioningSession, selector in
            try await provisioningSession.makeWrappingKey(as: selector).der
        }
        let other = P384.Signing.PrivateKey()
        let foreign = KeyMaterial(
            pkcs8: other.derRepresentation.withUnsafeBytes { Secret($0) }, publicKey: key.publicKey)
        let package = try WrappingKey(pem: PEM.text("PUBLIC KEY", der)).wrap(foreign)
        #expect(await sentence { try await importKey(.wrapped(package), uri) }?.contains("P-384") == true)
        #expect(try token.objectCount() == 2, "the wrapping pair")
    }

    @Test("an import refuses a key whose public key, label or ID exists")
    func twice() async throws {
        try await importKey(.plain(material(key)), uri)
        #expect(
            await sentence { try await importKey(.plain(material(key)), uri) }?.contains("already has this key") == true
        )
        let elsewhere = token.uri("object=OTHER")
        #expect(
            await sentence { try await importKey(.plain(material(key)), elsewhere) }?.contains("already has this key")
                == true)
        let another = material(P256.Signing.PrivateKey())
        #expect(await sentence { try await importKey(.plain(another), uri) }?.contains("label") == true)
        try await importKey(.plain(another), token.uri("object=SECOND;id=%07"))
        let third = material(P256.Signing.PrivateKey())
        let sameID = token.uri("object=THIRD;id=%07")
        #expect(await sentence { try await importKey(.plain(third), sameID) }?.contains("CKA_ID") == true)
        #expect(try token.objectCount() == 4)
    }

    @Test("an import completes an interrupted one, and accepts a complete key only if resumed")
    func interrupted() async throws {
        let placed = try await importKey(.plain(material(key)), uri)
        try token.inspect { session in
            for object in try session.objects(with: [Attribute(.publicKey)]) { try session.destroy(object) }
        }
        #expect(try await importKey(.plain(material(key)), uri).method == .found)
        #expect(try await importKey(.plain(material(key)), uri, isResumed: true).evidence == placed.evidence)
        #expect(try token.objectCount() == 2)
        try await withKey(uri) { _, opened in #expect(await fault(opened) == nil) }
    }

    @Test("an import removes remains under its own ID and refuses those under another")
    func remains() async throws {
        let id = Array(Insecure.SHA1.hash(data: key.publicKey.x963Representation))
        try token.importKey(P256.Signing.PrivateKey(), label: "KEY", id: id, .with { $0.hasPublicKey = false })
        #expect(try await importKey(.plain(material(key)), uri).method == .unwrapped)
        #expect(try token.objectCount() == 2)
        try token.importKey(P256.Signing.PrivateKey(), label: "NAMED", id: [9], .with { $0.hasPublicKey = false })
        let named = token.uri("object=NAMED;id=%09")
        let another = material(P256.Signing.PrivateKey())
        #expect(await sentence { try await importKey(.plain(another), named) }?.contains("already") == true)
        #expect(try token.objectCount() == 3)
    }

    @Test("destroy removes the private and the public key and searches for them afterwards")
    func destruction() async throws {
        try await importKey(.plain(material(key)), uri)
        let wrong = PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey)
        let refused = await sentence {
            _ = try await withProvisioningSession(uri) {
                try await $0.destroy($1, expecting: wrong, isResumed: false, tell: { _ in })
            }
        }
        #expect(refused?.contains("Nothing was changed") == true)
        #expect(try token.objectCount() == 2)
        let gone = try await withProvisioningSession(uri) {
            try await $0.destroy($1, expecting: nil, isResumed: false, tell: { _ in })
        }
        #expect(gone.fingerprint == PublicKeyFingerprint(of: key.publicKey))
        #expect((gone.destroyedPrivate, gone.destroyedPublic) == (1, 1))
        #expect(try token.objectCount() == 0)
        let nothing = await sentence {
            _ = try await withProvisioningSession(uri) {
                try await $0.destroy($1, expecting: nil, isResumed: false, tell: { _ in })
            }
        }
        #expect(nothing?.contains("Nothing was destroyed") == true)
        let again = try await withProvisioningSession(uri) {
            try await $0.destroy($1, expecting: nil, isResumed: true, tell: { _ in })
        }
        #expect(again.destroyedPrivate == 0)
    }

    @Test("destroy leaves other keys alone that share the label or the ID")
    func sharedNames() async throws {
        try token.generateKey(label: "KEY", id: [1])
        try token.generateKey(label: "KEY", id: [2])
        try token.generateKey(label: "OTHER", id: [1])
        let gone = try await withProvisioningSession(token.uri("object=KEY;id=%01")) {
            try await $0.destroy($1, expecting: nil, isResumed: false, tell: { _ in })
        }
        #expect((gone.destroyedPrivate, gone.destroyedPublic) == (1, 1))
        #expect(try token.objectCount() == 4)
        for name in ["object=KEY;id=%02", "object=OTHER"] {
            try await withKey(token.uri(name)) { _, opened in #expect(await fault(opened) == nil) }
        }
    }

    @Test("a key whose label is not UTF-8 signs and is destroyed, but no new key gets such a label")
    func otherEncoding() async throws {
        let label = Attribute(.label, bytes: [0x4B, 0xE9])
        try token.inspect { session in
            let flags = [Attribute(.isToken, true), label]
            _ = try session.generateKeyPair(
                .ecKeyPairGeneration,
                publicKey: flags + [Attribute(.ecParameters, bytes: Curve.p256.parameters), Attribute(.verify, true)],
                privateKey: flags + [
                    Attribute(.isPrivate, true), Attribute(.sensitive, true), Attribute(.extractable, false),
                    Attribute(.sign, true),
                ])
        }
        let uri = token.uri("object=K%E9")
        try await withKey(uri) { _, opened in #expect(await fault(opened) == nil) }
        let refused = await sentence { try await importKey(.plain(material(key)), uri) }
        #expect(refused?.contains("must be UTF-8") == true)
        let gone = try await withProvisioningSession(uri) {
            try await $0.destroy($1, expecting: nil, isResumed: false, tell: { _ in })
        }
        #expect((gone.destroyedPrivate, gone.destroyedPublic) == (1, 1))
        #expect(try token.objectCount() == 0)
    }

    @Test("a generated key is local and signs a certification request that openssl accepts")
    func generated() async throws {
        let placed = try await withProvisioningSession(uri) {
            try await $0.generate(as: $1, isResumed: false, tell: { _ in })
        }
        #expect(placed.method == .generated)
        for name in ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE"] {
            #expect(placed.attributes.contains { $0.name == name && $0.value == "true" })
        }
        let request = try CertificateRequest(subject: "CN=Käse\\, gut,O=Example,C=DE", publicKey: placed.publicKey)
        try await withKey(uri) { _, opened in
            let pem = PEM.text("CERTIFICATE REQUEST", try request.signed(try await opened.sign(request.digest)))
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).csr")
            try Data(pem.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let openssl = try ProgramRun(
                "openssl",
                ["req", "-in", file.path, "-noout", "-verify", "-subject", "-nameopt", "utf8,sep_comma_plus"])
            let text = String(decoding: openssl.output + openssl.errors, as: UTF8.self)
            #expect(openssl.status == 0 && text.contains("verify OK"), "\(text)")
            #expect(text.contains("Käse") && text.contains("Example"), "\(text)")
        }
        let twin = await sentence {
            _ = try await withProvisioningSession(uri) {
                try await $0.generate(as: $1, isResumed: false, tell: { _ in })
            }
        }
        #expect(twin?.contains("label") == true)
        let found = try await withProvisioningSession(uri) {
            try await $0.generate(as: $1, isResumed: true, tell: { _ in })
        }
        #expect(found.method == .found)
        #expect(found.publicKey.rawRepresentation == placed.publicKey.rawRepresentation)
        #expect(try token.objectCount() == 2)
    }
}
