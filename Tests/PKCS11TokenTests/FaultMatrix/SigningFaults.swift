import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting

/// A fault while keys are opened, sign, and are closed, as the gateway does it.
struct SigningFaults {
    let bench: FaultBench
    let fault: FaultCase

    /// From the first request that failed to the next one that was signed.
    private struct Outage {
        var begin: ContinuousClock.Instant?
        var length: Duration?

        mutating func note(_ outcome: OpenKeys.Outcome) {
            switch outcome {
            case .signed: if let begin, length == nil { length = .now - begin }
            case .failed: begin = begin ?? .now
            case .wrong: break
            }
        }
    }

    func run() async throws -> FaultVerdict {
        try bench.module.fresh()
        try bench.module.follow(fault.rule)
        var outage = Outage()
        var last: KeyError?
        let deadline = ContinuousClock.now + FaultBench.timeout + .seconds(fault.call)
        while ContinuousClock.now < deadline {
            let wasOver = bench.hasFired(fault)
            switch await cycle(until: deadline, &outage) {
            case .signed where wasOver:
                if bench.loginsAfterRefusal > 0 { return .wrong("a PIN that may have cost a try was shown again") }
                return .recovered(outage.length ?? .zero)
            case .signed: break
            case .wrong(let sentence): return .wrong(sentence)
            case .failed(let error):
                last = error
                if error.needsPerson { return try await callPerson(error) }
                // The gateway asks again each second; here as soon as it may help.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        guard bench.hasFired(fault) else { return .unreached }
        return try await callPerson(last ?? .closed)
    }

    /// Opens, signs, and closes; asks again while it is open, as requests do.
    private func cycle(
        until deadline: ContinuousClock.Instant, _ outage: inout Outage
    ) async -> OpenKeys.Outcome {
        let keys: OpenKeys
        do throws(KeyError) {
            keys = try await bench.open(orderedAt: nil)
        } catch {
            outage.note(.failed(error))
            return .failed(error)
        }
        var outcome = await keys.sign()
        outage.note(outcome)
        for _ in 0..<signatures where !bench.hasFired(fault) {
            outcome = await keys.sign()
            outage.note(outcome)
        }
        while case .failed(let error) = outcome, !error.needsPerson, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(2))
            outcome = await keys.sign()
            outage.note(outcome)
        }
        await keys.backend.close()
        return outcome
    }

    /// Rounds before the place is closed and opened again.
    private var signatures: Int {
        ["C_SignInit", "C_Sign", "C_Login", "C_GetTokenInfo"].contains(fault.function) ? fault.call : 0
    }

    /// What a person does: looks at the token, corrects a PIN that was refused, and orders a reload.
    private func callPerson(_ error: KeyError) async throws -> FaultVerdict {
        for _ in 0..<2 {
            if let keys = try? await bench.open(orderedAt: nil) { await keys.backend.close() }
        }
        if bench.loginsAfterRefusal > 0 { return .wrong("a PIN that may have cost a try was shown again") }
        if case .loginRefused = error { try bench.changePIN() }
        let order = ContinuousClock.now
        do throws(KeyError) {
            let keys = try await bench.open(orderedAt: order)
            let outcome = await keys.sign()
            await keys.backend.close()
            switch outcome {
            case .signed: return .person
            case .failed(let error): return .stuck("\(error)")
            case .wrong(let sentence): return .wrong(sentence)
            }
        } catch let later {
            return .stuck("\(error) Later: \(later)")
        }
    }
}
