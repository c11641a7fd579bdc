import Crypto
import Foundation
import KeyTransport
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@testable import AWSKMS

@Suite("Making, importing and destroying keys in AWS KMS", .timeLimit(.minutes(2)))
struct ProvisioningTests {
    private let test: TestBackend
    private let session: any ProvisioningSession
    private let key = P256.Signing.PrivateKey()
    private let told = Log<String>()

    init() async throws {
        test = try await TestBackend()
        session = KMSProvisioningSession(backend: try await test.open(["deletionDays": .integer(7)]))
    }

    private var material: KeyMaterial {
        KeyMaterial(
            pkcs8: Array(key.derRepresentation).withUnsafeBytes { Secret($0) }, publicKey: key.publicKey)
    }

    private func take(
        _ key: IncomingKey, _ name: String = "alias/KEY", isResumed: Bool = false
    ) async throws(KeyError) -> ProvisionedKey {
        try await session.take(
            key, as: try test.selector(name), isResumed: isResumed, allowsClear: false, tell: { told.add($0) })
    }

    private func refusal(_ body: () async throws -> Void) async -> KeyError? {
        do {
            try await body()
            return nil
        } catch { return error as? KeyError }
    }

    // MARK: Generation

    @Test("KMS makes a key with the alias, which signs a proof and then serves")
    func generate() async throws {
        let made = try await session.generate(
            as: test.selector("alias/KEY"), isResumed: false, tell: { told.add($0) })
        #expect(made.method == .generated && made.evidence["Origin"] == "AWS_KMS" && !made.lacksPublicKey)
        let known = try #require(test.kms.key("KEY"))
        #expect(known.spec == "ECC_NIST_P256" && known.usage == "SIGN_VERIFY")
        #expect(made.publicKey.rawRepresentation == known.privateKey?.publicKey.rawRepresentation)
        try await test.withKey { #expect($0.publicKey.rawRepresentation == made.publicKey.rawRepresentation) }
        // A second key must have another alias; an interrupted generation finds its key.
        let error = await refusal {
            _ = try await session.generate(as: test.selector("alias/KEY"), isResumed: false, tell: { _ in })
        }
        #expect(error?.kind == .unfit && test.kms.keyCount == 1)
        let found = try await session.generate(as: test.selector("alias/KEY"), isResumed: true, tell: { _ in })
        #expect(found.method == .found && test.kms.keyCount == 1)
    }

    @Test("a new key needs an alias, because AWS chooses its ID")
    func withoutAlias() async throws {
        let id = "1234abcd-12ab-34cd-56ef-1234567890ab"
        let error = await refusal {
            _ = try await session.generate(as: test.selector(id), isResumed: false, tell: { _ in })
        }
        #expect(error?.kind == .invalidURI && test.kms.keyCount == 0)
    }

    @Test("a call that makes a key is repeated if AWS throttled it, but not after an error of the server")
    func oneKey() async throws {
        test.kms.fail([
            .error("NotFoundException"), .error("ThrottlingException"), .error("KMSInternalException", status: 500),
        ])
        let error = await refusal {
            _ = try await session.generate(as: test.selector("alias/KEY"), isResumed: false, tell: { _ in })
        }
        #expect(error?.kind == .unavailable)
        #expect(test.kms.names() == ["DescribeKey", "CreateKey", "CreateKey"])
    }

    @Test("a key without its alias is scheduled for deletion")
    func aliasFails() async throws {
        test.kms.fail([
            .error("NotFoundException"),
            .json(#"{"KeyMetadata":{"Arn":"\#(FakeKMS.arn("x-1"))","KeyId":"x-1","KeyState":"Enabled"}}"#),
            .error("AccessDeniedException"), FakeServer.Answer(),
        ])
        let error = await refusal {
            _ = try await session.generate(as: test.selector("alias/KEY"), isResumed: false, tell: { _ in })
        }
        #expect(error?.description.contains("make the alias alias/KEY") == true)
        #expect(test.kms.names() == ["DescribeKey", "CreateKey", "CreateAlias", "ScheduleKeyDeletion"])
    }

    // MARK: Import

    @Test("a plain key leaves this process under RSA-OAEP with SHA-256 only")
    func plainImport() async throws {
        let placed = try await take(.plain(material))
        #expect(placed.method == .unwrapped && placed.evidence["Origin"] == "EXTERNAL")
        #expect(test.kms.key("KEY")?.privateKey?.rawRepresentation == key.rawRepresentation)
        let parameters = try #require(test.kms.calls.all.first { $0.name == "GetParametersForImport" })
        #expect(parameters.body.contains(#""WrappingAlgorithm":"RSAES_OAEP_SHA_256","WrappingKeySpec":"RSA_4096""#))
        // No call has the key: neither its DER nor its scalar.
        let scalar = key.rawRepresentation.base64EncodedString().dropLast(3)
        let der = key.derRepresentation.base64EncodedString()
        #expect(test.kms.calls.all.allSatisfy { !$0.body.contains(scalar) && !$0.body.contains(der) })
        try await test.withKey { key in
            let digest = SHA256.hash(data: [1])
            let signature = try await key.sign(digest)
            #expect(self.key.publicKey.verifies(signature, of: digest))
        }
    }

    @Test("an interrupted import is completed, and a complete one is found")
    func resumed() async throws {
        // It was interrupted before the material came.
        test.kms.add("KEY") { ($0.state, $0.origin, $0.privateKey) = ("PendingImport", "EXTERNAL", nil) }
        #expect(try await take(.plain(material), isResumed: true).method == .unwrapped)
        #expect(try await take(.plain(material), isResumed: true).method == .found)
        #expect(test.kms.keyCount == 1)
        let again = await refusal { _ = try await take(.plain(material)) }
        #expect(again?.kind == .unfit && again?.description.contains("Nothing was changed") == true)
    }

    @Test("a key that does not wait for material is left alone")
    func existing() async throws {
        test.kms.add("KEY")
        test.kms.add("RSA") {
            ($0.state, $0.origin, $0.spec, $0.privateKey) = ("PendingImport", "EXTERNAL", "RSA_2048", nil)
        }
        #expect(await refusal { _ = try await take(.plain(material)) }?.kind == .unfit)
        #expect(await refusal { _ = try await take(.plain(material), isResumed: true) }?.kind == .unfit)
        #expect(await refusal { _ = try await take(.plain(material), "alias/RSA") }?.kind == .unfit)
        #expect(!test.kms.names().contains("ImportKeyMaterial"))
    }

    @Test("material that KMS does not take is an error with its code, and a repeated import continues")
    func refusedMaterial() async throws {
        test.kms.refuse("ImportKeyMaterial", "IncorrectKeyMaterialException")
        let error = await refusal { _ = try await take(.plain(material)) }
        #expect(error?.kind == .unfit && error?.description.contains("IncorrectKeyMaterialException") == true)
        test.kms.refuse("ImportKeyMaterial", nil)
        #expect(try await take(.plain(material), isResumed: true).method == .unwrapped)
    }

    @Test("if KMS has another key than the expected one after an import, its material is deleted")
    func otherKey() async throws {
        let expected = KeyMaterial(pkcs8: material.pkcs8, publicKey: P256.Signing.PrivateKey().publicKey)
        let error = await refusal { _ = try await take(.plain(expected)) }
        #expect(error?.kind == .unfit)
        #expect(test.kms.names().last == "DeleteImportedKeyMaterial" && test.kms.key("KEY")?.privateKey == nil)
    }

    // MARK: Packages

    /// Wraps the key as `keys wrap` does, with the file that `keys wrapping-key` writes.
    private func wrappedKey(_ name: String = "alias/KEY") async throws -> WrappedKey {
        let made = try await session.makeWrappingKey(as: test.selector(name))
        return try WrappingKey(pem: WrappingKey.file(made)).wrap(material)
    }

    @Test("a package of keys wrap is opened by KMS only, with the import token of its wrapping key")
    func package() async throws {
        let package = try await wrappedKey()
        let parameters = try #require(test.kms.calls.all.first { $0.name == "GetParametersForImport" })
        #expect(parameters.body.contains(#""WrappingAlgorithm":"RSA_AES_KEY_WRAP_SHA_256""#))
        // The package goes through its file.
        let file = try KeyPackage(parsing: Array("\(JSONText.string(KeyPackage(package)))".utf8)).key
        let placed = try await take(.wrapped(file))
        #expect(placed.method == .unwrappedPackage)
        #expect(test.kms.key("KEY")?.privateKey?.rawRepresentation == key.rawRepresentation)
        #expect(test.kms.key("KEY")?.description == "PrivySeal signing key", "the import token is removed")
        #expect(test.kms.keyCount == 1)
    }

    @Test("a second wrapping key replaces the first one, and an older package is refused")
    func replacedWrappingKey() async throws {
        let old = try await wrappedKey()
        let new = try await wrappedKey()
        let error = await refusal { _ = try await take(.wrapped(old)) }
        #expect(error?.kind == .unfit && error?.description.contains("newest wrapping key") == true)
        #expect(try await take(.wrapped(new)).method == .unwrappedPackage)
    }

    @Test("a package for SHA-1, for a key without a token, for no key, and one that has expired are refused")
    func refusedPackages() async throws {
        let package = try await wrappedKey()
        let other = WrappedKey(
            wrappingKey: package.wrappingKey, publicKey: package.publicKey, hash: .sha1,
            encryptedAESKey: package.encryptedAESKey, encryptedKey: package.encryptedKey)
        #expect(await refusal { _ = try await take(.wrapped(other)) }?.description.contains("SHA-256") == true)
        #expect(await refusal { _ = try await take(.wrapped(package), "alias/NONE") }?.kind == .notFound)
        let known = try #require(test.kms.key("KEY"))
        let note = try #require(ImportTokenNote(description: known.description))
        let expired = ImportTokenNote(
            wrappingKey: note.wrappingKey, token: note.token, validTo: Timestamp(milliseconds: 0)
        ).description
        test.kms.change(known.id) { $0.description = expired ?? "" }
        #expect(await refusal { _ = try await take(.wrapped(package)) }?.description.contains("24 hours") == true)
        test.kms.change(known.id) { $0.description = "something else" }
        #expect(
            await refusal { _ = try await take(.wrapped(package)) }?.description.contains("no import token") == true)
        #expect(!test.kms.names().contains("ImportKeyMaterial"))
    }

    @Test("a changed package does not import another key")
    func damagedPackage() async throws {
        let package = try await wrappedKey()
        var bytes = package.encryptedKey
        bytes[10] ^= 1
        let damaged = WrappedKey(
            wrappingKey: package.wrappingKey, publicKey: package.publicKey, hash: .sha256,
            encryptedAESKey: package.encryptedAESKey, encryptedKey: bytes)
        #expect(await refusal { _ = try await take(.wrapped(damaged)) }?.kind == .unfit)
        #expect(try await take(.wrapped(package), isResumed: true).method == .unwrappedPackage)
    }

    @Test("an import token survives its way through the description")
    func note() throws {
        let note = ImportTokenNote(
            wrappingKey: PublicKeyFingerprint(ofDER: [1]), token: "AAEC", validTo: Timestamp(milliseconds: 1000))
        #expect(ImportTokenNote(description: try #require(note.description)) == note)
        for text in ["", "PrivySeal signing key", "PrivySeal import token; x; y; AAEC"] {
            #expect(ImportTokenNote(description: text) == nil)
        }
        let long = ImportTokenNote(
            wrappingKey: note.wrappingKey, token: String(repeating: "A", count: 8192), validTo: note.validTo)
        #expect(long.description == nil)
    }

    // MARK: Destruction

    private func destroy(
        _ fingerprint: PublicKeyFingerprint? = nil, isResumed: Bool = false
    ) async throws(KeyError) -> DestroyedKey {
        try await session.destroy(
            try test.selector("alias/KEY"), expecting: fingerprint, isResumed: isResumed, tell: { told.add($0) })
    }

    @Test("a generated key is scheduled for deletion, and the text says that it is not deleted yet")
    func destroyGenerated() async throws {
        let known = test.kms.add("KEY")
        let fingerprint = try PublicKeyFingerprint(of: #require(known.privateKey?.publicKey))
        let gone = try await destroy(fingerprint)
        #expect(gone.fingerprint == fingerprint && gone.destroyedPrivate == 1)
        #expect(gone.evidence["KeyState"] == "PendingDeletion" && gone.evidence["DeletionDate"] != nil)
        #expect(gone.remainder?.contains("an administrator of the account can cancel the deletion") == true)
        #expect(test.kms.calls.all.contains { $0.body.contains(#""PendingWindowInDays":7"#) })
        // To the gateway, it is gone.
        let backend = try await test.open()
        #expect(try await backend.inspect(test.selector("alias/KEY")).matches == 0)
        await backend.close()
        #expect(try await destroy(fingerprint, isResumed: true).fingerprint == fingerprint)
        #expect(await refusal { _ = try await destroy(fingerprint) }?.kind == .unfit)
    }

    @Test("imported key material is deleted at once")
    func destroyImported() async throws {
        _ = try await take(.plain(material))
        let gone = try await destroy(PublicKeyFingerprint(of: key.publicKey))
        #expect(gone.destroyedPrivate == 1 && test.kms.key("KEY")?.privateKey == nil)
        #expect(told.all.contains("The imported key material is deleted from this region of AWS KMS."))
        #expect(test.kms.key("KEY")?.state == "PendingDeletion")
    }

    @Test("another key than the expected one is left alone")
    func destroyOther() async throws {
        test.kms.add("KEY")
        let error = await refusal { _ = try await destroy(PublicKeyFingerprint(of: key.publicKey)) }
        #expect(error?.kind == .unfit && error?.description.contains("Nothing was changed") == true)
        #expect(test.kms.key("KEY")?.state == "Enabled")
    }

    @Test("a key that is not there was destroyed only if an earlier run began")
    func destroyMissing() async throws {
        #expect(await refusal { _ = try await destroy() }?.kind == .notFound)
        #expect(try await destroy(isResumed: true).destroyedPrivate == 0)
    }

    @Test("the location has the region and the endpoint")
    func location() async throws {
        #expect(session.location.name == "AWS KMS in eu-west-1")
        #expect(session.location.evidence["endpoint"] == test.server.origin)
        await session.close()
        await #expect(throws: KeyError.closed) { try await take(.plain(material)) }
    }
}
