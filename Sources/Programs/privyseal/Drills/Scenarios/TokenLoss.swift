import KeyDrills
import SigningKit

/// The token is removed and returned.
struct TokenLoss {
    let environment: DrillEnvironment

    func perform(_ log: DrillLog) async throws {
        let key = try await environment.observe(log)
        let lost = try await environment.loseToken("Take the token away", log)
        await unready(log)
        let back = try await release(log)
        try await recover(key, lost, back, log)
        await steady(key, log)
    }

    private func unready(_ log: DrillLog) async {
        await log.step("Ask /readyz", expected: "It says no, with 503.") {
            let isUnready = try await environment.waitForReadiness(503)
            return .when(isUnready, isUnready ? "It says no." : "It still says yes.")
        }
    }

    /// - Returns: the time of the return, or of the request for it to a person.
    private func release(_ log: DrillLog) async throws -> Timestamp {
        var back = log.now()
        try await log.essential("Give the token back", expected: "It is there again.") {
            if let throwAway = environment.throwAway {
                try await Task.sleep(for: DrillEnvironment.absence)
                try throwAway.returnToken()
            } else {
                environment.conditions.say("Put the token back now.")
            }
            back = log.now()
            return .asExpected(environment.throwAway == nil ? "A person was asked to." : "It is, after some seconds.")
        }
        return back
    }

    private func recover(_ key: String, _ lost: Timestamp, _ given: Timestamp, _ log: DrillLog) async throws {
        try await log.essential(
            "Wait until service is back", expected: "The gateway recovers by itself, with the same key."
        ) {
            guard
                let first = await environment.answer(
                    within: environment.tokenLimit, where: { $0.isServed && $0.begun >= given })
            else { return .not("No request was served.") }
            let back = try await moment(key, given, log)
            let span = back.map { log.time(\.restoration, from: $0, to: first.ended) }
            log.absence = Int((back ?? given).milliseconds - lost.milliseconds)
            log.time(\.recovery, from: lost, to: first.ended)
            let isReady = try await environment.waitForReadiness(200)
            log.rules.endOutage(log.now())
            let delay =
                span.map { "\($0) ms after the token" }
                ?? "\(first.ended.milliseconds - given.milliseconds) ms after a person was asked for the token"
            return .when(
                isReady && first.keyID == key,
                "The first answer came \(delay), signed with "
                    + "\(first.keyID ?? "no key"); /readyz says \(isReady ? "yes" : "no").")
        }
    }

    /// - Returns: the time of the return. If a person returns the token, the time in the audit log at which the gateway
    ///   found it, or nil.
    private func moment(_ key: String, _ given: Timestamp, _ log: DrillLog) async throws -> Timestamp? {
        guard environment.throwAway == nil else { return given }
        var back: Timestamp?
        let trail = AuditTrail(environment.admin)
        // The entry may be written after the first signature.
        _ = try await environment.wait(DrillEnvironment.eventLimit) {
            back = try await trail.tokenBack(key, after: given)
            return back != nil
        }
        if back == nil {
            log.deviate(
                "The audit log does not say when the token was back, so that the restoration is not measured.")
        }
        return back
    }

    private func steady(_ key: String, _ log: DrillLog) async {
        await log.step("See that it stays so", expected: "Further requests are served with \(key).") {
            let begin = log.now()
            let first = await environment.answer { $0.begun >= begin }
            return .when(
                first?.keyID == key, first.map { "\(DrillEnvironment.text($0.outcome))." } ?? "No request was answered."
            )
        }
    }
}
