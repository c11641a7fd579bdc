import Foundation
import P8
import SigningKit
import Testing

@Suite("Refused key files, each with its own message")
struct RefusedKeyFileTests {
    private let directory: KeyDirectory

    init() throws {
        directory = try KeyDirectory()
    }

    @Test(
        "A key on another curve is refused by the curve's name",
        arguments: [("secp256k1", "secp256k1"), ("secp384r1", "secp384r1"), ("secp521r1", "secp521r1")])
    func otherCurve(_ curve: String, _ name: String) async throws {
        try await expect(OpenSSL.key(curve: curve), fails: "holds a key on \(name); App Store keys are on P-256")
    }

    @Test("A key with explicit curve parameters is refused")
    func explicitParameters() async throws {
        let key = try OpenSSL.run(
            "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-param_enc", "explicit", "-conv_form",
            "uncompressed")
        try await expect(key, fails: "holds a key on explicit parameters")
    }

    @Test("An RSA key is refused, as PKCS#8 and as PKCS#1")
    func rsa() async throws {
        let key = try OpenSSL.run("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024")
        try await expect(key, fails: "holds an RSA key")
        try await expect(OpenSSL.run("rsa", "-traditional", input: key), fails: "holds an RSA key")
        try await expect(OpenSSL.run("rsa", "-traditional", "-outform", "DER", input: key), fails: "holds an RSA key")
    }

    @Test("A key for another algorithm is refused by name")
    func ed25519() async throws {
        try await expect(OpenSSL.run("genpkey", "-algorithm", "ED25519"), fails: "holds a key for ED25519")
    }

    @Test("A public key is refused, as PEM and as DER")
    func publicKey() async throws {
        let key = try OpenSSL.key()
        try await expect(OpenSSL.run("pkey", "-pubout", input: key), fails: "holds a public key")
        try await expect(OpenSSL.run("pkey", "-pubout", "-outform", "DER", input: key), fails: "holds a public key")
    }

    @Test("A certificate is refused")
    func certificate() async throws {
        let key = directory.url.appending(path: "key.pem")
        try OpenSSL.key().write(to: key)
        let certificate = try OpenSSL.run("req", "-x509", "-new", "-key", key.path, "-subj", "/CN=test")
        try await expect(certificate, fails: "holds a certificate")
    }

    @Test(
        "The refusal does not repeat an invalid URI",
        arguments: [
            "file:/k.p8?pwd=sesame4711", "file:/k.p8?pw=sesame4711", "file:/k.p8?key=sesame4711",
            "file:/k.p8?token=sesame4711", "file:/k.p8?sesame4711", "file:/k.p8?sesame4711=x",
            "file://user:sesame4711@host/k.p8", "file:sesame4711.p8", "file:/k.p8#sesame4711",
            "file:/k.p8?passphrase-source=sesame4711",
            "file:/k.p8?passphrase-source=file:/a&passphrase-source=sesame4711",
        ])
    func notRepeated(_ text: String) {
        let error = #expect(throws: KeyError.self) { try P8Backend.address(of: KeyURI(text)) }
        #expect(!String(reflecting: error).contains("sesame4711"), "\(String(describing: error))")
    }

    @Test("An empty file is refused")
    func empty() async throws {
        try await expect(Data(), fails: "is empty")
    }

    @Test("A file that is truncated anywhere is refused")
    func truncated() async throws {
        let key = try OpenSSL.key()
        for count in stride(from: 30, to: key.count - 20, by: 17) {
            try await expect(key.prefix(count), fails: "cut off")
        }
        let der = try OpenSSL.run("pkcs8", "-topk8", "-nocrypt", "-outform", "DER", input: key)
        for count in stride(from: 2, to: der.count, by: 13) {
            try await expect(der.prefix(count), fails: "cut off or damaged")
        }
    }

    @Test("A file that is not a key is refused")
    func notAKey() async throws {
        try await expect(Data("hello, world!".utf8), fails: "not a private key")
        try await expect(Data((0..<200).map { UInt8($0) }), fails: "not a private key")
    }

    @Test("A public key that does not match the private key is refused")
    func mismatchedPublicKey() async throws {
        let der = try OpenSSL.run("ec", "-outform", "DER", input: OpenSSL.key())
        let other = try OpenSSL.run("ec", "-outform", "DER", input: OpenSSL.key())
        // SEC1 with a P-256 key ends with the 64 bytes of the point.
        try await expect(der.dropLast(64) + other.suffix(64), fails: "does not belong to its private key")
    }

    @Test("An invalid private scalar is refused", arguments: [UInt8(0x00), 0xFF])
    func scalarOutOfRange(_ filler: UInt8) async throws {
        var der = try OpenSSL.run("ec", "-no_public", "-outform", "DER", input: OpenSSL.key())
        der.replaceSubrange(7..<39, with: repeatElement(filler, count: 32))
        try await expect(der, fails: "holds no valid P-256 private key")
    }

    @Test("Two keys in one file are refused")
    func twoKeys() async throws {
        try await expect(OpenSSL.key() + OpenSSL.key(), fails: "holds 2 PEM blocks (PRIVATE KEY, PRIVATE KEY)")
    }

    @Test("An encrypted key is refused without its passphrase or with a wrong one")
    func passphrase() async throws {
        let encrypted = try OpenSSL.run(
            "pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:right", input: OpenSSL.key())
        try await expect(encrypted, fails: "give the source of its passphrase")
        let uri = try directory.write(encrypted) + "?passphrase-source=file:/x"
        await expect(uri, fails: "the passphrase does not decrypt it", secrets: OneSecret(text: "wrong-pass"))
    }

    @Test("Encryption older than PBES2 is refused by name")
    func oldEncryption() async throws {
        let encrypted = try OpenSSL.run(
            "pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES", "-passout", "pass:right", input: OpenSSL.key())
        try await expect(encrypted, fails: "only PBES2 is read")
    }

    @Test("A cipher that libcrypto does not offer is not reported as a wrong passphrase")
    func unsupportedCipher() async throws {
        let encrypted = try OpenSSL.run(
            "pkcs8", "-topk8", "-provider", "legacy", "-provider", "default", "-v2", "rc2", "-passout", "pass:right",
            input: OpenSSL.key())
        let uri = try directory.write(encrypted) + "?passphrase-source=file:/x"
        await expect(uri, fails: "an algorithm that libcrypto does not offer", secrets: OneSecret(text: "right"))
    }

    @Test("A file that group or others can read is refused, with the cure", arguments: [0o640, 0o604, 0o660, 0o644])
    func sharedFile(_ mode: Int) async throws {
        let uri = try directory.write(OpenSSL.key(), mode: mode)
        await expect(uri, fails: "Run: chmod 600")
    }

    @Test("A missing file is refused")
    func missing() async {
        await expect("file:\(directory.url.path)/nothing.p8", fails: "There is no key file at")
    }

    @Test("A directory is refused")
    func notAFile() async {
        await expect("file:\(directory.url.path)", fails: "is not a file")
    }

    @Test(
        "A URI that a file backend cannot use is refused",
        arguments: [
            ("file:relative.p8", "absolute path"), ("file:/a.p8?pin-source=file:/x", "passphrase-source only"),
            ("file:/a%2.p8", "percent-encoded"), ("file://host/a.p8", "absolute path"),
            ("file:/a.p8?passphrase-source=file:/x&passphrase-source=file:/y", "twice"),
            ("file:/a.p8?passphrase-source=%7Ccat", "commands are not run"),
            ("file:/a.p8?passphrase-source=relative", "file:/absolute/path"),
        ])
    func uri(_ text: String, _ sentence: String) async {
        await expect(text, fails: sentence)
    }

    private func expect(_ content: Data, fails sentence: String) async throws {
        await expect(try directory.write(content), fails: sentence)
    }

    private func expect(
        _ uri: String, fails sentence: String, secrets: some SecretSource = NoSecrets(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: KeyError.self, sourceLocation: sourceLocation) {
            _ = try await KeyDirectory.open(uri, secrets: secrets)
        }
        let description = error?.description ?? ""
        #expect(description.contains(sentence), sourceLocation: sourceLocation)
        #expect(!description.contains("wrong-pass"), sourceLocation: sourceLocation)
    }
}
