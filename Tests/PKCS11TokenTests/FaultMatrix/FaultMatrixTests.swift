import Foundation
import SoftHSMTesting
import Testing

/// The whole of it is run by `scripts/faults`, which sets:
///
/// - `FAULT_MATRIX_OUTPUT`: a file that gets two lines for each case, `begin` and `end`, each with function, call and
///   code, and the latter with the verdict
/// - `FAULT_MATRIX_FUNCTION`: the function to run
/// - `FAULT_MATRIX_FROM`: how many of its cases to leave out
@Suite("Every code of the standard on every function", .serialized, .softHSM, .timeLimit(.minutes(60)))
struct FaultMatrixTests {
    @Test("No fault gives a wrong answer, and each ends by itself or by a person's order")
    func matrix() async throws {
        let environment = ProcessInfo.processInfo.environment
        let bench = try FaultBench()
        guard let output = environment["FAULT_MATRIX_OUTPUT"], let function = environment["FAULT_MATRIX_FUNCTION"]
        else {
            for fault in FaultCase.few {
                let verdict = try await Self.verdict(of: fault, bench)
                // Not every function is called twice by what is done here.
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
            let verdict = try await Self.verdict(of: fault, bench)
            try log.write(contentsOf: Data("end\t\(fault)\t\(verdict)\n".utf8))
        }
    }

    private static func verdict(of fault: FaultCase, _ bench: FaultBench) async throws -> FaultVerdict {
        if FaultCase.provisioning.contains(fault.function) {
            return try await ProvisioningFaults(bench: bench, fault: fault).run()
        }
        if FaultCase.inspecting.contains(fault.function) {
            return try await InspectingFaults(bench: bench, fault: fault).run()
        }
        return try await SigningFaults(bench: bench, fault: fault).run()
    }
}
