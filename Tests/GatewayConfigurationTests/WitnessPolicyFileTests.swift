import AuditKit
import Foundation
import Testing
import TransparencyLog

@testable import GatewayConfiguration

@Suite("Witnesses of the audit log")
final class WitnessPolicyFileTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "policy-\(UUID())").path
    private let key: String

    init() throws {
        key = try WitnessKey.generate(name: "witness.example.com/w1").verifier.text
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func read(_ policy: String?, _ settings: String = "witness: require") throws -> GatewayConfiguration {
        try policy?.replacing("KEY", with: key).write(toFile: path, atomically: true, encoding: .utf8)
        return try configuration(
            Examples.least.replacing("audit: off\n", with: "")
                + "audit: {database: /d, checkpoints: {policy: \(path), \(settings)}}\n")
    }

    @Test("A policy and what happens without a quorum")
    func valid() throws {
        let checkpoints = try #require(try read("witness w KEY https://witness.example.com\nquorum w\n").audit)
            .checkpoints
        #expect(checkpoints.witness == .require)
        #expect(checkpoints.policy?.policy.witnesses.map(\.url) == ["https://witness.example.com"])
    }

    @Test("The log of a fleet has the same witnesses, and warns")
    func fleet() throws {
        var configuration = try read("witness w KEY http://127.0.0.1:8095/\nquorum w\n")
        configuration.fleet = GatewayConfiguration.Fleet(.unknown)
        let checkpoints = try #require(configuration.fleetLog?.checkpoints)
        #expect(checkpoints.witness == .warn && checkpoints.policy?.policy.witnesses.count == 1)
    }

    @Test(
        "Every fault names the setting and the cure",
        arguments: [
            (nil, "audit.checkpoints.policy: names a file that does not exist"),
            ("quorum none\n", "asks no witness"),
            ("nonsense\n", "Line 1: This line begins with another word than log, witness"),
            ("witness w KEY\nquorum w\n", "the witness witness.example.com/w1 has no URL"),
            ("witness w KEY http://witness.example.com\nquorum w\n", "goes to another machine without TLS"),
            ("witness w KEY ftp://x\nquorum w\n", "must begin with http:// or https://"),
            ("witness w KEY https://user@x\nquorum w\n", "holds a user, a password"),
        ] as [(String?, String)])
    func faults(_ policy: String?, _ sentence: String) {
        let error = #expect(throws: ConfigurationError.self) { try self.read(policy) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("..") == false)
    }

    @Test("Both settings belong together")
    func together() {
        let missing = #expect(throws: ConfigurationError.self) {
            try self.read("witness w KEY https://x\nquorum w\n", "interval: 60")
        }
        #expect(missing?.description.contains("audit.checkpoints.witness: is missing; give require") == true)
        let alone = #expect(throws: ConfigurationError.self) {
            try configuration(
                Examples.least.replacing("audit: off\n", with: "")
                    + "audit: {database: /d, checkpoints: {witness: warn}}\n")
        }
        #expect(alone?.description.contains("audit.checkpoints.witness: has no effect without witnesses") == true)
    }
}
