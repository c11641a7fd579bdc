import Crypto
import Foundation
import P8
import PKCS11Token
import Signing
import SigningKit
import SoftHSMTesting
import Testing

/// One key in a file and in a token: the public key of either backend verifies the other's signatures.
@Suite("The same key in a file and in a token", .serialized, .softHSM, .timeLimit(.minutes(2)))
final class CrossBackendTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "privyseal-cross-\(UUID())")
    private let ring: KeyRing

    init() async throws {
        let key = P256.Signing.PrivateKey()
        let token = try SoftHSM.shared.get().makeToken()
        try token.importKey(key, label: "KEY", id: [0x01])
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let file = directory.appending(path: "AuthKey.p8")
        try Data(key.pemRepresentation.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let pinned = PublicKeyFingerprint(of: key.publicKey)
        let keys = [
            KeySettings(keyID: "FILE", uri: try KeyURI("file:\(file.path)"), pinned: pinned),
            KeySettings(keyID: "TOKEN", uri: try KeyURI(token.uri("object=KEY")), pinned: pinned),
        ]
        let account = AccountSettings(issuerID: "issuer", apps: [], keys: keys, activeKeyID: "TOKEN")
        ring = KeyRing(
            GatewaySettings(accounts: [account], verification: .off),
            backends: [P8Backend.self, PKCS11TokenBackend.self],
            secrets: FileSecretSource(credentialsDirectory: nil))
        await ring.openMissing()
        await ring.prove()
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    @Test("Both keys are ready with one fingerprint and different custody")
    func ready() async {
        #expect(ring.handles.map(\.state) == [.ready, .ready])
        #expect(ring.handles[0].fingerprint == ring.handles[1].fingerprint)
        #expect(ring.handles.map(\.custody) == [.process, .token])
        await ring.close()
    }

    @Test("Each key verifies the signatures of the other")
    func verifyEachOther() async throws {
        for number in 0..<256 {
            let digest = SHA256.hash(data: Data("text \(number)".utf8))
            for (signer, verifier) in [(0, 1), (1, 0)] {
                let signature = try await ring.handles[signer].sign(digest)
                let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
                #expect(ring.handles[verifier].publicKey?.isValidSignature(parsed, for: digest) == true)
                #expect(P256Signature(derRepresentation: parsed.derRepresentation) == signature)
            }
        }
        await ring.close()
    }
}
