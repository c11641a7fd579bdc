import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting

/// A fault while the gateway opens keys, signs, and closes them.
struct SigningFaults {
    let session: FaultTestToken
    let fault: FaultCase

    /// The time from the first failed request to the next signature.
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
        try session.module.fresh()
        try session.module.follow(fault.rule)
        var outage = Outage()
        var last: KeyError?
        let deadline = ContinuousClock.now + FaultTestToken.timeout + .seconds(fault.call)
        while ContinuousClock.now < deadline {
            let wasOver = session.hasFired(fault)
            switch await cycle(until: deadline, &outage) {
            case .signed where wasOver:
                if session.loginsAfterRefusal > 0 { return .wrong("a PIN that may have cost a try was shown again") }
                return .recovered(outage.length ?? .zero)
            case .signed: break
            case .wrong(let sentence): return .wrong(sentence)
            case .failed(let error):
                last = error
                if error.needsPerson { return try await callPerson(error) }
                // The gateway retries each second; the test retries as soon as it may help.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        guard session.hasFired(fault) else { return .unreached }
        return try await callPerson(last ?? .closed)
    }

    /// Opens the keys, signs, repeats failed requests as clients do, and closes the backend.
    private func cycle(
        until deadline: ContinuousClock.Instant, _ outage: inout Outage
    ) async -> OpenKeys.Outcome {
        let keys: OpenKeys
        do throws(KeyError) {
            keys = try await session.open(reopenOrderedAt: nil)
        } catch {
            outage.note(.failed(error))
            return .failed(error)
        }
        var outcome = await keys.sign()
        outage.note(outcome)
        for _ in 0..<signatures where !session.hasFired(fault) {
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

    /// The number of additional signatures before the backend is closed.
    private var signatures: Int {
        ["C_SignInit", "C_Sign", "C_Login", "C_GetTokenInfo"].contains(fault.function) ? fault.call : 0
    }

    /// Does what the operator does: looks at the token, corrects a refused PIN, and orders a reload.
    private func callPerson(_ error: KeyError) async throws -> FaultVerdict {
        for _ in 0..<2 {
            if let keys = try? await session.open(reopenOrderedAt: nil) { await keys.backend.close() }
        }
        if session.loginsAfterRefusal > 0 { return .wrong("a PIN that may have cost a try was shown again") }
        if case .loginRefused = error { try session.changePIN() }
        let order = MonotonicTime.nanoseconds()
        do throws(KeyError) {
            let keys = try await session.open(reopenOrderedAt: order)
            let outcome = await keys.sign()
            await keys.backend.close()
            switch outcome {
            case .signed: return .person
            case .failed(let error): return .hungCalls("\(error)")
            case .wrong(let sentence): return .wrong(sentence)
            }
        } catch let later {
            return .hungCalls("\(error) Later: \(later)")
        }
    }
}
