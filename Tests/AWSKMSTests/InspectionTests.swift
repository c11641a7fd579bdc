import SigningKit
import Testing

@testable import AWSKMS

@Suite("The inspection of a key in AWS KMS", .timeLimit(.minutes(1)))
struct InspectionTests {
    private func inspect(
        _ provenance: KeyProvenance = .generated, _ change: (inout FakeKMS.Key) -> Void = { _ in }
    ) async throws -> KeyInspection {
        let test = try await TestBackend()
        test.kms.add("KEY", change)
        let backend = try await test.open()
        let inspection = try await backend.inspect(test.selector("alias/KEY"), provenance: provenance)
        await backend.close()
        return inspection
    }

    @Test("a good key passes, with its ARN, origin and state as evidence")
    func good() async throws {
        let inspection = try await inspect()
        #expect(inspection.custody == .service && inspection.matches == 1 && inspection.fingerprint != nil)
        #expect(inspection.checks.allSatisfy { $0.result == .pass || $0.id == "kms.multiRegion" })
        #expect(inspection.evidence["Origin"] == "AWS_KMS" && inspection.evidence["KeyState"] == "Enabled")
        #expect(inspection.evidence["Arn"]?.hasPrefix("arn:aws:kms:eu-west-1:111122223333:key/") == true)
        #expect(inspection.evidence["CreationDate"] == "2025-11-24T16:00:00.123Z")
    }

    @Test("an endpoint that is not the one of AWS proves nothing about hardware")
    func protection() async throws {
        #expect(try await inspect().protection.kind == .unknown)
        let address = try AWSKMSBackend.address(of: KeyURI("awskms:eu-west-1/alias/KEY"))
        let backend = try await AWSKMSBackend.open(
            address.locator, PluginSettings(defaultsOf: AWSKMSBackend.settings),
            EnvironmentVariables(TestBackend.keys))
        #expect(backend.location.isAWS)
        await backend.close()
    }

    @Test(
        "origin and provenance must agree",
        arguments: [
            (KeyProvenance.generated, "AWS_KMS", ComplianceCheck.Result.pass), (.generated, "EXTERNAL", .fail),
            (.imported, "EXTERNAL", .notApplicable), (.imported, "AWS_KMS", .fail), (.unknown, "AWS_KMS", .unavailable),
            (.generated, "AWS_CLOUDHSM", .fail),
        ])
    func origin(_ provenance: KeyProvenance, _ origin: String, _ result: ComplianceCheck.Result) async throws {
        let check = try await inspect(provenance) { $0.origin = origin }.checks.first { $0.id == "kms.origin" }
        #expect(check?.result == result && check?.value == origin)
    }

    @Test("a key that does not sign fails, and a scheduled deletion names its date")
    func states() async throws {
        let disabled = try await inspect { $0.state = "Disabled" }
        #expect(disabled.matches == 1 && disabled.check("kms.state")?.result == .fail)
        let pending = try await inspect {
            ($0.state, $0.deletionDate) = ("PendingDeletion", 4_070_908_800)
        }
        #expect(pending.matches == 0 && pending.fingerprint == nil)
        #expect(pending.check("kms.state")?.value == "PendingDeletion until 2099-01-01T00:00:00.000Z")
        #expect(try await inspect { $0.state = "PendingImport" }.matches == 0)
    }

    @Test("another spec, usage or expiry fails")
    func unfit() async throws {
        #expect(try await inspect { $0.spec = "RSA_2048" }.check("identity.curve")?.result == .fail)
        #expect(try await inspect { $0.usage = "KEY_AGREEMENT" }.check("usage.signOnly")?.result == .fail)
        let expiring = try await inspect { $0.expirationModel = "KEY_MATERIAL_EXPIRES" }
        #expect(expiring.check("kms.expiry")?.result == .fail)
        let regions = try await inspect { $0.isMultiRegion = true }.check("kms.multiRegion")
        #expect(regions?.value == "true" && regions?.result == .notApplicable)
    }

    @Test("a member that is null counts as absent")
    func nullMembers() async throws {
        let test = try await TestBackend()
        test.kms.add("KEY")
        test.kms.changeAnswers { _, answer in answer.with(#""MultiRegion":false"#, #""MultiRegion":null"#) }
        let backend = try await test.open()
        let inspection = try await backend.inspect(test.selector("alias/KEY"))
        #expect(inspection.check("kms.multiRegion")?.result == .unavailable)
        #expect(inspection.matches == 1 && inspection.evidence["MultiRegion"] == nil)
        await backend.close()
    }

    @Test("a key that does not exist has no match, and no check passes")
    func missing() async throws {
        let test = try await TestBackend()
        let backend = try await test.open()
        let inspection = try await backend.inspect(test.selector("alias/NONE"))
        #expect(inspection.matches == 0 && inspection.checks.allSatisfy { $0.result == .unavailable })
        await backend.close()
        await #expect(throws: KeyError.closed) { try await backend.inspect(test.selector("alias/NONE")) }
    }

    @Test("a key that cannot be reached has the same checks, without verdicts")
    func unreachable() async throws {
        let error = KeyError.unavailable("No answer.")
        let checks = AWSKMSBackend.checks(provenance: .generated, uninspected: error)
        #expect(try await checks.map(\.id) == inspect().checks.map(\.id))
        #expect(checks.allSatisfy { $0.result == .unavailable && $0.value == nil && $0.detail == "No answer." })
    }
}

extension KeyInspection {
    fileprivate func check(_ id: String) -> ComplianceCheck? { checks.first { $0.id == id } }
}
