public import SigningKit
import Synchronization

/// Sends requests the whole time, and judges each answer.
public final class LoadDriver: Sendable {
    private struct State {
        var keys = PublicKeys()
        var sent = 0
        var due: ContinuousClock.Instant?
        var isStopped = false
    }

    public let ledger = LoadLedger()
    private let plan: LoadPlan
    private let target: LoadTarget
    private let requests: [LoadRequest]
    private let state = Mutex(State())
    private let clock: @Sendable () -> Timestamp

    /// - Parameter requests: sent in turns.
    public init(
        _ plan: LoadPlan, to target: LoadTarget, requests: [LoadRequest], clock: @escaping @Sendable () -> Timestamp
    ) {
        self.plan = plan
        self.target = target
        self.requests = requests
        self.clock = clock
    }

    public var keys: PublicKeys { state.withLock { $0.keys } }

    /// Whether all requests that were allowed have been sent.
    public var isUsedUp: Bool { state.withLock { $0.sent >= plan.total } }

    public func stop() { state.withLock { $0.isStopped = true } }

    /// Until `stop`, or until all requests have been sent.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<plan.connections { group.addTask { await self.work() } }
        }
        ledger.close()
    }

    private func work() async {
        while !Task.isCancelled, let (number, due) = next() {
            guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
            guard !state.withLock({ $0.isStopped }) else { return }
            await ask(requests[number % requests.count])
        }
    }

    /// The number of a request, and when it is due. What could not be sent in time is not made up for: a gateway that was
    /// away for a while is not flooded when it is back.
    private func next() -> (number: Int, due: ContinuousClock.Instant)? {
        state.withLock { state in
            guard !state.isStopped, state.sent < plan.total, !requests.isEmpty else { return nil }
            let now = ContinuousClock.now
            let due = max(state.due ?? now, now)
            state.due = due + .seconds(1 / plan.rate)
            state.sent += 1
            return (state.sent - 1, due)
        }
    }

    // MARK: One request

    /// Sends a request besides those of the load, and judges its answer. It is not counted among them.
    public func probe(_ request: LoadRequest) async -> (answer: LoadAnswer, body: [UInt8]) {
        let begun = clock()
        do {
            let answer = try await target.send(request, timeout: plan.timeout)
            let ended = clock()
            let outcome = await judge(request, answer)
            return (LoadAnswer(begun: begun, ended: ended, outcome: outcome), answer.body)
        } catch {
            return (LoadAnswer(begun: begun, ended: clock(), outcome: .failed(LoadTarget.reason(error))), [])
        }
    }

    private func ask(_ request: LoadRequest) async {
        ledger.record(await probe(request).answer)
    }

    private func judge(_ request: LoadRequest, _ answer: LoadTarget.Answer) async -> LoadAnswer.Outcome {
        let judge = AnswerJudge(keys)
        if answer.status == 200, judge.isAmiss(request, body: answer.body) { try? await refreshKeys() }
        return AnswerJudge(keys).judge(request, status: answer.status, body: answer.body)
    }

    /// Asks for the gateway's public keys again.
    public func refreshKeys() async throws {
        let answer = try await target.get("/.well-known/jwks.json")
        guard answer.status == 200 else { throw DrillError("The gateway shows no public keys: \(answer.status).") }
        try state.withLock { try $0.keys.add(jwks: answer.body) }
    }

    /// The status of `/readyz`; nil when nobody answers.
    public func readiness() async -> Int? {
        try? await target.get("/readyz").status
    }
}
