import Foundation
import P8
import SigningKit
import SigningKitTesting
import Testing

@Suite("Conformance of the .p8 backend", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("The .p8 backend meets the key backend contract")
    func conformance() async throws {
        let directory = try KeyDirectory()
        let encrypted = try OpenSSL.run(
            "pkcs8", "-topk8", "-v2", "aes-256-cbc", "-passout", "pass:correct-horse", input: OpenSSL.key())
        let file = try directory.write(encrypted)
        try await KeyBackendConformance<P8Backend>(
            uri: "\(file)?passphrase-source=file:/where/it/is",
            secrets: OneSecret(text: "correct-horse"),
            custody: .process,
            missingKeys: ["file:\(directory.url.path)/none.p8"],
            ambiguousKeys: .lacks("a file is named by its path, and holds one key"),
            misconfigurations: [
                Misconfiguration("file:relative.p8", .invalidURI, mentions: "absolute"),
                Misconfiguration("\(file)?pin-source=file:/x", .invalidURI, mentions: "passphrase-source"),
                Misconfiguration(file, .secretUnavailable, mentions: "passphrase-source"),
                Misconfiguration(
                    file, settings: ["sessions": .integer(2)], .invalidSetting, mentions: "allowSharedFiles"),
                Misconfiguration("file:\(directory.url.path)", .unfit, mentions: "is not a file"),
            ],
            queue: .lacks("it signs where it is called, in 20 µs, so nothing waits"),
            custodyProof: .lacks("the process holds the key, and says so"),
            confidential: ["correct-horse", "/where/it/is"]
        ).run()
        withExtendedLifetime(directory) {}
    }
}
