import KeyDrills
import SigningGateway
import SigningKit

/// Steps that several scenarios have.
extension DrillStage {
    /// Which key is active, and that it serves.
    ///
    /// - Returns: its ID.
    func observe(_ sheet: DrillSheet) async throws -> String {
        try await sheet.essential(
            "Look at the keys before anything is done", expected: "One key is active, and requests are served with it."
        ) {
            let active = try await activeKey()
            sheet.oldKey = active
            try await Task.sleep(for: Self.calm)
            guard let answer = await load.ledger.first(within: Self.eventLimit, where: { $0.isServed }) else {
                return .not("\(active) is active, but no request was served.")
            }
            let isRight = answer.keyID == active
            return .when(isRight, "\(active) is active; requests are served with \(answer.keyID ?? "no key").")
        }
        return sheet.oldKey ?? ""
    }

    func replacementKey() throws -> String {
        guard let replacement else {
            throw DrillError(
                "This scenario needs a staged key to take over: name it with --new KEY, or use --throw-away.")
        }
        return replacement
    }

    /// A fresh proof of possession.
    func prove(_ keyID: String, _ sheet: DrillSheet) async throws {
        sheet.newKey = keyID
        try await sheet.essential(
            "Have \(keyID) sign a proof of possession", expected: "It proves that it is the key with its fingerprint."
        ) {
            let record = try await desk.prove(keyID)
            let fingerprint = record.fingerprint?.description ?? "unknown"
            sheet.prove("proof of possession", keyID, "fingerprint \(fingerprint)")
            return .when(record.fingerprint != nil, "It did; its fingerprint is \(fingerprint).")
        }
    }

    /// Has the replacement take over.
    ///
    /// - Parameter old: the key that is active until then; nil where none is.
    /// - Returns: when the gateway said that it was done.
    @discardableResult
    func activate(_ new: String, retiring old: String?, _ sheet: DrillSheet) async throws -> Timestamp {
        var done = sheet.now()
        try await sheet.essential(
            "Activate \(new)" + (old.map { ", and retire \($0)" } ?? ""),
            expected: "The gateway changes over within one second; answers then carry \(new)."
        ) {
            let ordered = sheet.now()
            let records = try await change(
                KeyChangeOrder(
                    .activate, new, reason: "Drill", retiring: old, overlap: old == nil ? nil : overlap))
            done = sheet.now()
            if let old { sheet.rules.ban(old, from: done) }
            let state = records.first { $0.keyID == new }?.state
            guard
                let first = await load.ledger.first(
                    within: Self.eventLimit, where: { $0.keyID == new && $0.begun >= ordered })
            else { return .not("\(new) is \(state?.rawValue ?? "unknown"), but no answer carries it.") }
            sheet.time(.changeOver, from: ordered, to: first.ended)
            let span = sheet.timings[.changeOver] ?? 0
            return .when(
                state == .active && span <= 1000,
                "The order was done after \(done.milliseconds - ordered.milliseconds) ms, and the first answer of \(new) came "
                    + "after \(span) ms.")
        }
        return done
    }

    /// That a request which names the key is refused.
    func refusesName(_ keyID: String, _ sheet: DrillSheet, because why: String) async {
        await sheet.step(
            "Ask for a signature of \(keyID) by name", expected: "It is refused, because \(why)."
        ) {
            let (answer, body) = await load.probe(request(.named(keyID: keyID)))
            return Self.refusal(answer, body, as: .keyNotInUse)
        }
    }

    /// - Parameter problem: why the request must be refused. Another refusal says nothing of the key: it may not even have
    ///   been asked.
    static func refusal(_ answer: LoadAnswer, _ body: [UInt8], as problem: ExpectedProblem) -> DrillSheet.Finding {
        guard answer.isFailed, ProblemText.type(body) == problem.rawValue else {
            return .not(text(answer, body))
        }
        return .asExpected(text(answer, body))
    }

    /// What came of a request, in a sentence.
    static func text(_ answer: LoadAnswer, _ body: [UInt8]) -> String {
        switch answer.outcome {
        case .failed(let status): "Refused with \(status): \(ProblemText.detail(body) ?? "no reason given")."
        case .served(let keyID): "It was signed with \(keyID)."
        case .wronglySigned(let reason): "It was signed, and wrongly. \(reason)"
        }
    }

    /// That the log has no signature by the old key after the change.
    ///
    /// - Parameter form: the feature that is looked for; nil for every one. A retiring key may still sign in the legacy form,
    ///   for a request that names it.
    func auditAgrees(
        _ old: String, _ changed: Timestamp, _ sheet: DrillSheet, form: String? = "promotional-offer"
    ) async {
        let what = form == nil ? "signature, in any form," : "JWS"
        await sheet.step(
            "Look into the audit log", expected: "It has no \(what) that \(old) made after the change."
        ) {
            let since = String(decoding: changed.rfc3339, as: UTF8.self)
            let count = try await AuditTrail(admin).count(
                "key=\(old)\(form.map { "&feature=\($0)" } ?? "")&kind=signature&since=\(since)")
            return .when(count == 0, "It has \(count == 0 ? "none" : "\(count)").")
        }
    }
}
