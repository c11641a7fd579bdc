import Crypto
import Foundation
import GatewayConfiguration
import SigningKit
import Testing

@Suite("Configuration and public key files")
final class FileTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "configuration-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    @Test("messages name a file by its path")
    func path() throws {
        defer { remove() }
        let path = try write(Examples.least("promotional-offer", "nothing"), "gateway.yaml")
        let error = try #require(throws: ConfigurationError.self) { try load(path) }
        #expect(error.description.hasPrefix("\(path):5: accounts[0].apps[0].features[0]: is \"nothing\""))
        let read = try load(try write(Examples.least, "gateway.yaml"))
        #expect(read.accounts.count == 1)
        #expect(read.digest == Array(SHA256.hash(data: Data(Examples.least.utf8))))
    }

    @Test("the reader refuses a missing file, a directory and a file over one megabyte")
    func unreadable() throws {
        defer { remove() }
        let missing = directory.path + "/missing.yaml"
        #expect(message(missing) == "\(missing): does not exist; check the path.")
        #expect(message(directory.path) == "\(directory.path): is a directory; give a file.")
        let large = try write(String(repeating: "#", count: 2 << 20), "large.yaml")
        #expect(message(large) == "\(large): has more than 1048576 bytes; check the path.")
    }

    @Test("the reader refuses a FIFO as configuration or public key without waiting")
    func fifo() throws {
        defer { remove() }
        let path = directory.path + "/fifo"
        #expect(mkfifo(path, 0o600) == 0)
        let reason = "is not a regular file; give a file, not a FIFO, socket or device."
        #expect(message(path) == "\(path): \(reason)")
        #expect(faults(withKey: ["publicKeyFile: \(path)"]).first?.hasSuffix("names a file that \(reason)") == true)
    }

    @Test("the reader reads a configuration from a pipe if the caller allows it")
    func pipe() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(Examples.least.utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        #expect(try load(path, mayBePipe: true).accounts.count == 1)
    }

    @Test("a public key from a file matches the pinned fingerprint")
    func publicKey() throws {
        defer { remove() }
        let key = P256.Signing.PrivateKey().publicKey
        let pem = try write(key.pemRepresentation + "\n", "key.pem")
        let configuration = try configuration(withKey: [
            "publicKeyFile: \(pem)", "publicKey: \(PublicKeyFingerprint(of: key))",
        ])
        let read = configuration.accounts[0].keys[0]
        #expect(read.publicKey?.x963Representation == key.x963Representation)
        #expect(read.address.selector.publicKey == Array(key.x963Representation))
        #expect(read.fingerprint == PublicKeyFingerprint(of: key))
    }

    @Test("the reader accepts a public key with a compressed point")
    func compressedPublicKey() throws {
        defer { remove() }
        let key = P256.Signing.PrivateKey().publicKey
        let header: [UInt8] = [
            0x30, 0x39, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x22, 0x00,
        ]
        let base64 = Data(header + Array(key.compressedRepresentation)).base64EncodedString()
        let text = "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n"
        let read = try configuration(withKey: ["publicKeyFile: \(try write(text, "key.pem"))"]).accounts[0].keys[0]
        #expect(read.publicKey?.x963Representation == key.x963Representation)
    }

    @Test("the reader refuses a fingerprint that differs from the public key file")
    func disagreement() throws {
        defer { remove() }
        let key = P256.Signing.PrivateKey().publicKey
        let other = PublicKeyFingerprint(of: P256.Signing.PrivateKey().publicKey)
        let pem = try write(key.pemRepresentation, "key.pem")
        #expect(
            faults(withKey: ["publicKeyFile: \(pem)", "publicKey: \(other)"]) == [
                "gateway.yaml:10: accounts[0].keys[0].publicKey: is not the fingerprint of the key in publicKeyFile, which is "
                    + "\(PublicKeyFingerprint(of: key)); correct or remove one of them."
            ])
    }

    @Test("the reader refuses a file without a P-256 public key and does not repeat its content")
    func wrongFiles() throws {
        defer { remove() }
        let secret = P256.Signing.PrivateKey().pemRepresentation
        let rows = [
            (secret, "names a file with a private key, which does not belong there"),
            (
                "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
                "names a certificate; extract its public key"
            ),
            (
                P384.Signing.PrivateKey().publicKey.pemRepresentation,
                "names a file that is not a P-256 public key in PEM"
            ),
            (
                P256.Signing.PrivateKey().publicKey.pemRepresentation + "and more",
                "names a file that is not a P-256 public key"
            ),
            ("", "names a file that is not a P-256 public key in PEM"),
            // A point of P-256 with the OID of secp256k1.
            (
                """
                -----BEGIN PUBLIC KEY-----
                MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg
                9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
                -----END PUBLIC KEY-----
                """,
                "names a file that is not a P-256 public key in PEM"
            ),
        ]
        for (content, sentence) in rows {
            let pem = try write(content, "wrong.pem")
            let lines = faults(withKey: ["publicKeyFile: \(pem)"])
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("gateway.yaml:9: accounts[0].keys[0].publicKeyFile: \(sentence)") == true)
            #expect(!secret.split(separator: "\n").dropFirst().dropLast().contains { lines[0].contains($0) })
        }
        #expect(
            faults(withKey: ["publicKeyFile: \(directory.path)/missing"]) == [
                "gateway.yaml:9: accounts[0].keys[0].publicKeyFile: names a file that does not exist; check the path."
            ])
        #expect(
            faults(withKey: ["publicKeyFile: key.pem"]) == [
                "gateway.yaml:9: accounts[0].keys[0].publicKeyFile: must be an absolute path, such as "
                    + "/etc/privyseal/2X9R4HXF34.pub.pem."
            ])
    }

    private func text(withKey lines: [String]) -> String {
        Examples.least("    activeKey", lines.map { "        \($0)\n" }.joined() + "    activeKey")
    }

    private func configuration(withKey lines: [String]) throws -> GatewayConfiguration {
        try GatewayConfigurationTests.configuration(text(withKey: lines))
    }

    private func faults(withKey lines: [String]) -> [String] {
        GatewayConfigurationTests.faults(in: text(withKey: lines))
    }

    private func load(_ path: String, mayBePipe: Bool = false) throws(ConfigurationError) -> GatewayConfiguration {
        try .load(
            path: path, environment: [:], features: features, featureSettings: featureSettings,
            backends: [FakeTokens.self, FakeFiles.self],
            mayBePipe: mayBePipe)
    }

    private func message(_ path: String) -> String? {
        do {
            _ = try load(path)
            return nil
        } catch {
            return error.description
        }
    }

    private func write(_ text: String, _ name: String) throws -> String {
        let file = directory.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func remove() {
        try? FileManager.default.removeItem(at: directory)
    }
}
