import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting

/// A fault while a key is looked at, as the compliance report does it.
struct InspectingFaults {
    let bench: FaultBench
    let fault: FaultCase

    func run() async throws -> FaultVerdict {
        try bench.module.fresh()
        try bench.module.follow(fault.rule)
        let selector = try PKCS11TokenBackend.address(of: KeyURI(bench.uri("PLAIN"))).selector
        let keys = try await bench.open(orderedAt: .now)
        var verdict = FaultVerdict.unreached
        var failure: ContinuousClock.Instant?
        for _ in 0..<fault.call + 3 {
            let wasOver = bench.hasFired(fault)
            do throws(KeyError) {
                let seen = try await keys.backend.inspect(selector)
                if seen.probes?.wrap == .given || seen.probes?.value == .given {
                    verdict = .wrong("a key that is kept was reported as given out")
                    break
                }
                if wasOver, case .refused = seen.probes?.wrap {
                    verdict = .recovered(failure.map { .now - $0 } ?? .zero)
                    break
                }
            } catch {
                failure = failure ?? .now
                verdict = .stuck("\(error)")
            }
        }
        if verdict.isFine, case .failed(let error) = await keys.sign() { verdict = .stuck("\(error)") }
        await keys.backend.close()
        return verdict
    }
}
