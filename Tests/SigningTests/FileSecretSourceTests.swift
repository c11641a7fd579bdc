import Foundation
import Signing
import SigningKit
import Testing

@Suite("Secrets from files and credentials")
final class FileSecretSourceTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "privyseal-secrets-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    @Test(
        "One trailing newline is not part of the secret",
        arguments: [("1234", "1234"), ("1234\n", "1234"), ("1234\r\n", "1234"), ("12 34\n\n", "12 34\n")])
    func newline(_ content: String, _ secret: String) throws {
        let path = try write(content)
        for reference in [path, "file:\(path)", "file://\(path)"] {
            #expect(try text(FileSecretSource(credentialsDirectory: nil).secret(reference)) == secret)
        }
    }

    @Test("A credential is found in the directory that systemd names")
    func credential() throws {
        _ = try write("1234\n", named: "appstore-pin")
        let source = FileSecretSource(credentialsDirectory: directory.path)
        #expect(try text(source.secret("credential:appstore-pin")) == "1234")
    }

    @Test(
        "An invalid secret reference is refused and not executed",
        arguments: ["|cat /etc/hostname", "file:relative", "1234", "env:PIN", "credential:../pin", "credential:"])
    func refused(_ reference: String) throws {
        let error = #expect(throws: KeyError.self) {
            try FileSecretSource(credentialsDirectory: directory.path).secret(reference)
        }
        guard case .secretUnavailable(let sentence)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!sentence.contains("1234") || reference != "1234")
    }

    @Test("A missing, empty or overlong file is refused by its path")
    func unreadable() throws {
        let paths = [
            "\(directory.path)/none", try write("", named: "empty"), try write("\n", named: "newline"),
            try write(String(repeating: "x", count: 4097), named: "long"),
        ]
        for path in paths {
            let error = #expect(throws: KeyError.self) {
                try FileSecretSource(credentialsDirectory: nil).secret("file:\(path)")
            }
            #expect(error?.description.contains(path) == true)
        }
    }

    @Test("A FIFO is refused without waiting")
    func pipe() throws {
        let path = directory.appending(path: "pipe").path
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: KeyError.secretUnavailable("\(path) is not a file.")) {
            try FileSecretSource(credentialsDirectory: nil).secret("file:\(path)")
        }
    }

    @Test("The error for a credential without systemd names LoadCredential=")
    func noCredentials() {
        let error = #expect(throws: KeyError.self) {
            try FileSecretSource(credentialsDirectory: nil).secret("credential:pin")
        }
        #expect(error?.description.contains("LoadCredential=") == true)
    }

    @Test("A secret does not show its value when printed or dumped")
    func redacted() throws {
        let secret = try FileSecretSource(credentialsDirectory: nil).secret(write("hunter2"))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains("hunter2")) }
    }

    private func write(_ content: String, named name: String = "secret") throws -> String {
        let file = directory.appending(path: name)
        try content.write(to: file, atomically: false, encoding: .utf8)
        return file.path
    }

    private func text(_ secret: Secret) -> String {
        secret.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
