import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

extension DrillRun {
    /// The active key is declared compromised, and another key is activated.
    func compromise() async throws {
        let old = try await observe()
        let new = environment.replacement
        let begun = log.now()
        try await log.essential(
            "Declare \(old) compromised", expected: "The gateway stops it at once, and says so."
        ) {
            log.rules.beginOutage(begun)
            let state = try await change(order(.compromise, old))
            let done = log.now()
            log.rules.ban(old, from: done)
            let span = log.time(\.stop, from: begun, to: done)
            return .when(state == .compromised, "After \(span) ms it is \(state?.rawValue ?? "unknown").")
        }
        // Both forms, because separate code signs each.
        for (form, name) in [(LoadRequest.token, "a JWS"), (.legacy, "a signature in the legacy form")] {
            await log.step(
                "Ask for \(name) right after that", expected: "The next request already is refused."
            ) {
                let probe = await load.probe(form)
                let finding = Refusal.of(probe, as: "no-key-in-use")
                if finding.isAsExpected, log.record.timings.detection == nil, let stop = log.rules.bans[old] {
                    log.time(\.detection, from: stop, to: probe.answer.ended)
                }
                return finding
            }
        }
        await refusesName(old, because: "it is compromised")
        try await prove(new)
        try await activate(new, retiring: nil)
        await recover(
            "See that service is back", expected: "Requests are served with \(new), and /readyz says yes.", with: new,
            since: begun, lost: begun, beginningWith: { $0.keyID == new }
        ) { first in
            // The outage ends with the first signature. A failure after it counts.
            log.rules.endOutage(first.ended)
            return "\(first.ended.milliseconds - begun.milliseconds) ms after the order to stop"
        }
        await refusesName(old, because: "it stays compromised")
        await auditAgrees(old, log.rules.bans[old] ?? begun, form: nil)
    }
}
