import Foundation
import SoftHSMTesting
import Testing

/// `scripts/faults` runs the complete matrix. It sets:
///
/// - `FAULT_MATRIX_OUTPUT`: a file that gets two lines for each case, `begin` and `end`, each with function, call and
///   code; the second line also has the verdict
/// - `FAULT_MATRIX_FUNCTION`: the function to run
/// - `FAULT_MATRIX_FROM`: the number of its cases to skip
@Suite("Every return code of the standard on every function", .serialized, .softHSM, .timeLimit(.minutes(60)))
struct FaultMatrixTests {
    @Test("No fault gives a wrong answer, and each ends by itself or by the operator's order")
    func matrix() async throws {
        let environment = ProcessInfo.processInfo.environment
        let session = try FaultTestToken()
        guard let output = environment["FAULT_MATRIX_OUTPUT"], let function = environment["FAULT_MATRIX_FUNCTION"]
        else {
            for fault in FaultCase.few {
                let verdict = try await Self.verdict(of: fault, session)
                // The scenarios call some functions only once.
                if case .unreached = verdict { continue }
                #expect(verdict.isFine, "\(fault): \(verdict)")
            }
            return
        }
        let cases = FaultCase.cases(of: [function], FaultCase.codes, FaultCase.calls)
        let log = try FileHandle(forWritingTo: URL(filePath: output))
        try log.seekToEnd()
        for fault in cases.dropFirst(environment["FAULT_MATRIX_FROM"].flatMap(Int.init) ?? 0) {
            try log.write(contentsOf: Data("begin\t\(fault)\n".utf8))
            let verdict = try await Self.verdict(of: fault, session)
            try log.write(contentsOf: Data("end\t\(fault)\t\(verdict)\n".utf8))
        }
    }

    private static func verdict(of fault: FaultCase, _ session: FaultTestToken) async throws -> FaultVerdict {
        if FaultCase.provisioning.contains(fault.function) {
            return try await ProvisioningFaults(session: session, fault: fault).run()
        }
        if FaultCase.inspecting.contains(fault.function) {
            return try await InspectingFaults(session: session, fault: fault).run()
        }
        return try await SigningFaults(session: session, fault: fault).run()
    }
}
