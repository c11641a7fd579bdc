import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// Steps that several scenarios share.
extension DrillEnvironment {
    /// - Returns: the active key's ID, after a check that it serves requests.
    func observe(_ log: DrillLog) async throws -> String {
        try await log.essential(
            "Look at the keys before anything is done", expected: "One key is active, and requests are served with it."
        ) {
            let active = try await activeKey()
            log.record.keys.old = active
            try await Task.sleep(for: Self.baselineDuration)
            guard let answer = await answer(where: { $0.isServed }) else {
                return .not("\(active) is active, but no request was served.")
            }
            let isRight = answer.keyID == active
            return .when(isRight, "\(active) is active; requests are served with \(answer.keyID ?? "no key").")
        }
        return log.record.keys.old ?? ""
    }

    /// Has the key sign a fresh proof of possession.
    func prove(_ keyID: String, _ log: DrillLog) async throws {
        log.record.keys.new = keyID
        try await log.essential(
            "Have \(keyID) sign a proof of possession", expected: "It proves that it is the key with its fingerprint."
        ) {
            let record = try await lifecycleClient.prove(keyID)
            let fingerprint = record.fingerprint?.description ?? "unknown"
            log.prove("proof of possession", keyID, "fingerprint \(fingerprint)")
            return .when(record.fingerprint != nil, "It did; its fingerprint is \(fingerprint).")
        }
    }

    /// - Parameter old: the active key, which is retired; nil if there is none.
    /// - Returns: when the gateway reported the change as done.
    @discardableResult
    func activate(_ new: String, retiring old: String?, _ log: DrillLog) async throws -> Timestamp {
        var done = log.now()
        try await log.essential(
            "Activate \(new)" + (old.map { ", and retire \($0)" } ?? ""),
            expected: "The gateway changes over within one second; answers then carry \(new)."
        ) {
            let ordered = log.now()
            let records = try await change(
                KeyChangeOrder(
                    .activate, new, reason: "Drill", retiring: old, overlap: old == nil ? nil : overlap))
            done = log.now()
            if let old { log.rules.ban(old, from: done) }
            let state = records.first { $0.keyID == new }?.state
            guard let first = await answer(where: { $0.keyID == new && $0.begun >= ordered }) else {
                return .not("\(new) is \(state?.rawValue ?? "unknown"), but no answer carries it.")
            }
            let span = log.time(\.changeOver, from: ordered, to: first.ended)
            return .when(
                state == .active && span <= 1000,
                "The order was done after \(done.milliseconds - ordered.milliseconds) ms, and the first answer of \(new) came "
                    + "after \(span) ms.")
        }
        return done
    }

    /// The time limit for an action with a token, of a person or of the gateway.
    var tokenLimit: Duration { throwAway == nil ? conditions.timeout : Self.moduleLimit }

    /// Removes the token, or asks a person to.
    ///
    /// - Returns: the time of the removal.
    func loseToken(_ title: String, _ log: DrillLog) async throws -> Timestamp {
        var lost = log.now()
        try await log.essential(title, expected: "Requests are refused with 503, and none is wrongly signed.") {
            log.rules.beginOutage(lost)
            if let throwAway {
                try throwAway.removeToken()
                lost = log.now()
            } else {
                conditions.say("Take the token away now.")
            }
            let start = lost
            guard let first = await answer(within: tokenLimit, where: { $0.isFailed && $0.ended >= start }) else {
                return .not("No request was refused.")
            }
            // The time at which a person removed the token is unknown, but close to the last answer before the failure.
            if throwAway == nil {
                lost = load.answers.last { $0.isServed && $0.ended <= first.ended }?.ended ?? lost
            }
            let span = log.time(\.detection, from: lost, to: first.ended)
            return .when(
                first.outcome == .failed("503"),
                "The first request that was refused ended \(span) ms later: \(Self.text(first.outcome)).")
        }
        return lost
    }

    static func text(_ outcome: LoadAnswer.Outcome) -> String {
        switch outcome {
        case .served(let keyID): "served with \(keyID)"
        case .failed(let reason): "refused with \(reason)"
        case .wronglySigned(let reason): reason
        }
    }

    /// Checks that a request that names the key is refused.
    func refusesName(_ keyID: String, _ log: DrillLog, because why: String) async {
        await log.step(
            "Ask for a signature of \(keyID) by name", expected: "It is refused, because \(why)."
        ) {
            Refusal.of(await probe(.named(keyID: keyID)), as: .keyNotInUse)
        }
    }

    /// Checks that the log has no signature by the old key after the change.
    ///
    /// - Parameter form: the feature to search for; nil for all. A retiring key may still sign legacy requests by its
    ///   name.
    func auditAgrees(
        _ old: String, _ changed: Timestamp, _ log: DrillLog, form: String? = "promotional-offer"
    ) async {
        let what = form == nil ? "signature, in any form," : "JWS"
        await log.step(
            "Look into the audit log", expected: "It has no \(what) that \(old) made after the change."
        ) {
            let since = changed.text
            let count = try await AuditTrail(admin).count(
                "key=\(old)\(form.map { "&feature=\($0)" } ?? "")&kind=signature&since=\(since)")
            return .when(count == 0, "It has \(count == 0 ? "none" : "\(count)").")
        }
    }
}
