import Crypto
import Foundation
import P8
import SigningKit
import Testing

@Suite("Accepted key files")
struct AcceptedKeyFileTests {
    /// The forms in which operators receive keys, each as a change to App Store Connect's own file.
    enum Form: String, CaseIterable {
        case asGiven, withoutPublicKey, crlf, byteOrderMark, indented, oneLine, literalNewlines, trailingText
        case sec1, sec1WithParameters, pkcs8BehindASEC1Label, der, sec1DER, base64OfFile

        func apply(to pem: Data) throws -> Data {
            let text = String(decoding: pem, as: UTF8.self)
            let body = text.split(separator: "\n").dropFirst().dropLast().joined()
            switch self {
            case .asGiven: return pem
            case .withoutPublicKey: return try Self.withoutPublicKey(pem)
            case .crlf: return Data(text.replacingOccurrences(of: "\n", with: "\r\n").utf8)
            case .byteOrderMark: return Data("\u{FEFF}\(text)".utf8)
            case .indented: return Data(text.split(separator: "\n").map { "      \($0)  \n" }.joined().utf8)
            case .oneLine: return Data("-----BEGIN PRIVATE KEY-----\(body)-----END PRIVATE KEY-----".utf8)
            case .literalNewlines: return Data(text.replacingOccurrences(of: "\n", with: "\\n").utf8)
            case .trailingText: return Data("Key for the App Store\n\(text)%".utf8)
            case .sec1: return try OpenSSL.run("ec", input: pem)
            case .sec1WithParameters:
                return try OpenSSL.run("ecparam", "-name", "prime256v1") + OpenSSL.run("ec", input: pem)
            case .pkcs8BehindASEC1Label:
                return Data("-----BEGIN EC PRIVATE KEY-----\n\(body)\n-----END EC PRIVATE KEY-----\n".utf8)
            case .der: return try OpenSSL.run("pkcs8", "-topk8", "-nocrypt", "-outform", "DER", input: pem)
            case .sec1DER: return try OpenSSL.run("ec", "-outform", "DER", input: pem)
            case .base64OfFile: return pem.base64EncodedData(options: .lineLength76Characters)
            }
        }

        /// Apple's older form: the inner ECPrivateKey holds the scalar only.
        private static func withoutPublicKey(_ pem: Data) throws -> Data {
            let sec1 = try OpenSSL.run("ec", "-no_public", "-outform", "DER", input: pem)
            // Version 0, id-ecPublicKey, prime256v1; then ECPrivateKey with version and scalar.
            let head: [UInt8] = [
                0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
                0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04,
                0x20,
            ]
            let body = (Data(head) + sec1[7..<39]).base64EncodedString(options: .lineLength64Characters)
            return Data("-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n".utf8)
        }
    }

    @Test("The backend finds a key in every common file format", arguments: Form.allCases)
    func form(_ form: Form) async throws {
        let pem = try OpenSSL.key()
        let directory = try KeyDirectory()
        try await expect(directory.write(form.apply(to: pem)), holds: pem)
    }

    @Test(
        "The backend opens an encrypted key with its passphrase",
        arguments: [
            ["-v2", "aes-256-cbc"], ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512"], ["-v2", "des3"],
            ["-scrypt", "-scrypt_N", "1024"],
        ])
    func encrypted(_ scheme: [String]) async throws {
        let pem = try OpenSSL.key()
        let directory = try KeyDirectory()
        let encrypted = try encrypt(pem, scheme, passphrase: "correct horse")
        let uri = try directory.write(encrypted) + "?passphrase-source=file:/passphrase"
        try await expect(uri, holds: pem, secrets: OneSecret(text: "correct horse"))
    }

    @Test("A setting allows key files that group and others can read")
    func sharedFile() async throws {
        let pem = try OpenSSL.key()
        let directory = try KeyDirectory()
        let uri = try directory.write(pem, mode: 0o644)
        try await expect(uri, holds: pem, settings: ["allowSharedFiles": .boolean(true)])
    }

    @Test("A path may have the form of RFC 8089 and percent-encoding")
    func uriForms() async throws {
        let pem = try OpenSSL.key()
        let directory = try KeyDirectory()
        _ = try directory.write(pem, named: "Auth Key.p8")
        let path = directory.url.path + "/Auth%20Key.p8"
        try await expect("file://\(path)", holds: pem)
        try await expect("file://localhost\(path)", holds: pem)
        try await expect("FILE:\(path)", holds: pem)
    }

    @Test("A report names the file and has no token and no pool")
    func report() async throws {
        let directory = try KeyDirectory()
        let uri = try directory.write(OpenSSL.key(), named: "AuthKey_2X9R4HXF34.p8")
        let backend = try await KeyDirectory.open(uri)
        let health = await backend.health()
        #expect(await backend.report() == KeyBackendReport(health: health, name: "AuthKey_2X9R4HXF34.p8"))
        await backend.close()
    }

    private func encrypt(_ pem: Data, _ scheme: [String], passphrase: String) throws -> Data {
        try OpenSSL.run(["pkcs8", "-topk8", "-passout", "pass:\(passphrase)"] + scheme, input: pem)
    }

    private func expect(
        _ uri: String, holds pem: Data, settings: [String: PluginSettings.Value] = [:],
        secrets: some SecretSource = NoSecrets()
    ) async throws {
        let backend = try await KeyDirectory.open(uri, settings: settings, secrets: secrets)
        let key = try await backend.key(KeySelector(KeyURI(uri)))
        let expected = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
        #expect(key.publicKey.x963Representation == expected.publicKey.x963Representation)
        #expect(key.custody == .process)
        let digest = SHA256.hash(data: Data("a text".utf8))
        let signature = try await key.sign(digest)
        let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
        #expect(expected.publicKey.isValidSignature(parsed, for: digest))
        await backend.close()
    }
}
