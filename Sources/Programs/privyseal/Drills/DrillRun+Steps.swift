import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// Requests, waiting, and steps that several scenarios share.
extension DrillRun {
    /// The time limit for events that need no person.
    static let eventLimit = Duration.seconds(20)
    /// The time limit for finding a token again: the gateway restarts a module at most twice a minute.
    static let moduleLimit = Duration.seconds(90)
    /// Load before the first and after the last step, so that a record shows both.
    static let baselineDuration = Duration.seconds(2)

    var client: RemoteKeyLifecycleClient { RemoteKeyLifecycleClient(environment.admin) }
    var overlap: Int { environment.conditions.overlap }
    /// The time limit for an action with a token, of a person or of the gateway.
    var tokenLimit: Duration { environment.throwAway == nil ? environment.conditions.timeout : Self.moduleLimit }

    // MARK: Requests

    static func text(_ outcome: LoadAnswer.Outcome) -> String {
        switch outcome {
        case .served(let keyID): "served with \(keyID)"
        case .failed(let reason): "refused with \(reason)"
        case .wronglySigned(let reason): reason
        }
    }

    /// Whether `/readyz` returns this status within the time limit.
    func waitForReadiness(_ status: Int) async throws -> Bool {
        try await wait { await load.readiness() == status }
    }

    /// Polls a condition that has no event.
    func wait(_ limit: Duration = eventLimit, until isSo: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if try await isSo() { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await isSo()
    }

    // MARK: Keys

    func account() async throws -> KeyLifecycleOverview.Account {
        guard let account = try await client.overview().accounts.first(where: { $0.issuerID == environment.issuerID })
        else {
            throw DrillError("The gateway has no account \(environment.issuerID).")
        }
        return account
    }

    func key(_ keyID: String) async throws -> KeyLifecycleOverview.Key {
        guard let key = try await account().keys.first(where: { $0.life.keyID == keyID }) else {
            throw DrillError("The account \(environment.issuerID) has no key \(keyID).")
        }
        return key
    }

    func activeKey() async throws -> String {
        guard let key = try await account().keys.first(where: { $0.life.state == .active }) else {
            throw DrillError("The account \(environment.issuerID) has no active key.")
        }
        return key.life.keyID
    }

    func order(
        _ action: KeyLifecycleAction, _ keyID: String, retiring: String? = nil, overlap: Int? = nil,
        reason: String = "Drill"
    ) -> KeyChangeOrder {
        KeyChangeOrder(action, keyID, reason: reason, retiring: retiring, overlap: overlap)
    }

    /// The order that activates a staged key in the place of the active one.
    func activation(of staged: String, retiring active: String, reason: String = "Drill") -> KeyChangeOrder {
        order(.activate, staged, retiring: active, overlap: overlap, reason: reason)
    }

    /// - Returns: the state of the order's key after the change; nil if the gateway did not report it.
    func change(_ order: KeyChangeOrder) async throws -> KeyLifecycleState? {
        switch try await client.change(order) {
        case .done(let records, _): return records.first { $0.keyID == order.keyID }?.state
        case .proposed(let proposal):
            throw DrillError(
                "The account requires two administrators; this order is now the proposal \(proposal.id). Have it "
                    + "approved, and rehearse with an account without dualControl.")
        case .activating:
            throw DrillError(
                "The activation still waits for gateways of the fleet; privyseal keys states names them.")
        case .begun, .waiting, .ended: return nil
        }
    }

    // MARK: Steps

    /// - Returns: the active key's ID, after a check that it serves requests.
    func observe() async throws -> String {
        try await log.essential(
            "Look at the keys before anything is done", expected: "One key is active, and requests are served with it."
        ) {
            let active = try await activeKey()
            log.record.keys.old = active
            try await Task.sleep(for: Self.baselineDuration)
            guard let answer = await load.first(where: { $0.isServed }) else {
                return .not("\(active) is active, but no request was served.")
            }
            let isRight = answer.keyID == active
            return .when(isRight, "\(active) is active; requests are served with \(answer.keyID ?? "no key").")
        }
        return log.record.keys.old ?? ""
    }

    /// Has the key sign a fresh proof of possession.
    func prove(_ keyID: String) async throws {
        log.record.keys.new = keyID
        try await log.essential(
            "Have \(keyID) sign a proof of possession", expected: "It proves that it is the key with its fingerprint."
        ) {
            let record = try await client.prove(keyID)
            let fingerprint = record.fingerprint?.description ?? "unknown"
            log.prove("proof of possession", keyID, "fingerprint \(fingerprint)")
            return .when(record.fingerprint != nil, "It did; its fingerprint is \(fingerprint).")
        }
    }

    /// - Parameter old: the active key, which is retired; nil if there is none.
    /// - Returns: when the gateway reported the change as done.
    @discardableResult
    func activate(_ new: String, retiring old: String?) async throws -> Timestamp {
        var done = log.now()
        try await log.essential(
            "Activate \(new)" + (old.map { ", and retire \($0)" } ?? ""),
            expected: "The gateway changes over; answers then carry \(new)."
        ) {
            let ordered = log.now()
            let state = try await change(old.map { activation(of: new, retiring: $0) } ?? order(.activate, new))
            done = log.now()
            if let old { log.rules.ban(old, from: done) }
            guard let first = await load.first(where: { $0.keyID == new && $0.begun >= ordered }) else {
                return .not("\(new) is \(state?.rawValue ?? "unknown"), but no answer carries it.")
            }
            let span = log.time(\.changeOver, from: ordered, to: first.ended)
            return .when(
                state == .active,
                "The order was done after \(done.milliseconds - ordered.milliseconds) ms, and the first answer of \(new) came "
                    + "after \(span) ms.")
        }
        return done
    }

    /// Removes the token, or asks a person to.
    ///
    /// - Returns: the time of the removal.
    func loseToken(_ title: String) async throws -> Timestamp {
        var lost = log.now()
        try await log.essential(title, expected: "Requests are refused with 503, and none is wrongly signed.") {
            log.rules.beginOutage(lost)
            if let throwAway = environment.throwAway {
                try throwAway.removeToken()
                lost = log.now()
            } else {
                environment.conditions.say("Take the token away now.")
            }
            let start = lost
            guard let first = await load.first(within: tokenLimit, where: { $0.isFailed && $0.ended >= start }) else {
                return .not("No request was refused.")
            }
            // The time at which a person removed the token is unknown, but close to the last answer before the failure.
            if environment.throwAway == nil {
                lost = load.answers.last { $0.isServed && $0.ended <= first.ended }?.ended ?? lost
            }
            let span = log.time(\.detection, from: lost, to: first.ended)
            return .when(
                first.outcome == .failed("503"),
                "The first request that was refused ended \(span) ms later: \(Self.text(first.outcome)).")
        }
        return lost
    }

    /// Waits until requests are served again, and ends the outage.
    ///
    /// - Parameters:
    ///   - begin: the earliest beginning of a request that shows the recovery.
    ///   - lost: when the outage began.
    ///   - matches: the first answer that counts; by default any that was served.
    ///   - delay: records other timings of the first answer, and says how late it came.
    func recover(
        _ title: String, expected: String, with key: String, since begin: Timestamp, lost: Timestamp,
        within limit: Duration = eventLimit, beginningWith matches: (LoadAnswer) -> Bool = \.isServed,
        delay: (LoadAnswer) async throws -> String
    ) async {
        await log.step(title, expected: expected) {
            guard let first = await load.first(within: limit, where: { $0.begun >= begin && matches($0) }) else {
                return .not("No request was served.")
            }
            log.time(\.recovery, from: lost, to: first.ended)
            let delay = try await delay(first)
            let isReady = try await waitForReadiness(200)
            log.rules.endOutage(log.now())
            let signer = first.keyID ?? "no key"
            return .when(
                isReady && signer == key,
                "The first answer came \(delay), signed with \(signer); /readyz says \(isReady ? "yes" : "no").")
        }
    }

    /// Checks that the key is active, and that the next request is served with it.
    func serves(_ key: String, _ title: String) async {
        await log.step(title, expected: "\(key) is active, and requests are served with it.") {
            let begin = log.now()
            let first = await load.first { $0.begun >= begin }
            let now = try await activeKey()
            let text = first.map { Self.text($0.outcome) } ?? "not answered"
            return .when(now == key && first?.keyID == key, "\(now) is active; the next request was \(text).")
        }
    }

    /// Checks that a request that names the key is refused.
    func refusesName(_ keyID: String, because why: String) async {
        await log.step(
            "Ask for a signature of \(keyID) by name", expected: "It is refused, because \(why)."
        ) {
            Refusal.of(await load.probe(.named(keyID: keyID)), as: "key-not-in-use")
        }
    }

    /// Tries an action that the gateway must refuse.
    func refuse(_ title: String, _ act: () async throws -> Void) async {
        await log.step(title, expected: "It is refused with a sentence.") { try await Refusal.of(act) }
    }

    /// Checks that the log has no signature by the old key after the change.
    ///
    /// - Parameter form: the feature to search for; nil for all. A retiring key may still sign legacy requests by its
    ///   name.
    func auditAgrees(_ old: String, _ changed: Timestamp, form: String? = "promotional-offer") async {
        let what = form == nil ? "signature, in any form," : "JWS"
        await log.step(
            "Look into the audit log", expected: "It has no \(what) that \(old) made after the change."
        ) {
            let feature = form.map { "&feature=\($0)" } ?? ""
            let query = "key=\(old)\(feature)&kind=signature&since=\(changed.text)"
            let count = try await environment.admin.auditEntries(query).count
            return .when(count == 0, "It has \(count == 0 ? "none" : "\(count)").")
        }
    }
}
