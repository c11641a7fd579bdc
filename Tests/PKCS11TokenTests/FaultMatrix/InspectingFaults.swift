import Foundation
import SigningKit
import SoftHSMTesting

@testable import PKCS11Token

/// A fault during the inspection of a key, as the compliance report does it.
struct InspectingFaults {
    let session: FaultTestToken
    let fault: FaultCase

    func run() async throws -> FaultVerdict {
        try session.module.fresh()
        try session.module.follow(fault.rule)
        let selector = try PKCS11TokenBackend.address(of: KeyURI(session.uri("PLAIN"))).selector
        let keys = try await session.open(reopenOrderedAt: MonotonicTime.nanoseconds())
        var verdict = FaultVerdict.unreached
        var failure: ContinuousClock.Instant?
        for _ in 0..<fault.call + 3 {
            let wasOver = session.hasFired(fault)
            do throws(KeyError) {
                let seen = try await keys.backend.inspectedKey(selector)
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
                verdict = .hungCalls("\(error)")
            }
        }
        if verdict.isFine, case .failed(let error) = await keys.sign() { verdict = .hungCalls("\(error)") }
        await keys.backend.close()
        return verdict
    }
}
