public import SigningKit
import Synchronization

/// Sends requests throughout the drill, and checks each answer.
public final class LoadDriver: Sendable {
    private struct State {
        var keys = PublicKeys()
        var sent = 0
        var due: ContinuousClock.Instant?
        var isStopped = false
    }

    public let results = LoadResults()
    private let settings: LoadSettings
    private let target: LoadTarget
    private let requests: [LoadRequest]
    private let state = Mutex(State())
    private let clock: @Sendable () -> Timestamp

    /// - Parameter requests: Sent in rotation.
    public init(
        _ settings: LoadSettings, to target: LoadTarget, requests: [LoadRequest],
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.settings = settings
        self.target = target
        self.requests = requests
        self.clock = clock
    }

    public var keys: PublicKeys { state.withLock { $0.keys } }

    /// Whether the driver has sent `LoadSettings.total` requests.
    public var isExhausted: Bool { state.withLock { $0.sent >= settings.total } }

    public func stop() { state.withLock { $0.isStopped = true } }

    /// Returns after `stop`, or when all requests were sent.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<settings.connections { group.addTask { await self.work() } }
        }
        results.close()
    }

    private func work() async {
        while !Task.isCancelled, let (number, due) = next() {
            guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
            guard !state.withLock({ $0.isStopped }) else { return }
            await ask(requests[number % requests.count])
        }
    }

    /// The number and due time of a request. Late requests are not made up for, to not flood a recovered gateway.
    private func next() -> (number: Int, due: ContinuousClock.Instant)? {
        state.withLock { state in
            guard !state.isStopped, state.sent < settings.total, !requests.isEmpty else { return nil }
            let now = ContinuousClock.now
            let due = max(state.due ?? now, now)
            state.due = due + .seconds(1 / settings.rate)
            state.sent += 1
            return (state.sent - 1, due)
        }
    }

    // MARK: Single requests

    /// Sends a request and checks its answer, without recording it in the load's results.
    public func probe(_ request: LoadRequest) async -> (answer: LoadAnswer, body: [UInt8]) {
        let begun = clock()
        do {
            let answer = try await target.send(request, timeout: settings.timeout)
            let ended = clock()
            let outcome = await judge(request, answer)
            return (LoadAnswer(begun: begun, ended: ended, outcome: outcome), answer.body)
        } catch {
            return (LoadAnswer(begun: begun, ended: clock(), outcome: .failed(LoadTarget.reason(error))), [])
        }
    }

    private func ask(_ request: LoadRequest) async {
        results.record(await probe(request).answer)
    }

    private func judge(_ request: LoadRequest, _ answer: LoadTarget.Answer) async -> LoadAnswer.Outcome {
        let judge = AnswerCheck(keys)
        if answer.status == 200, judge.needsKeyRefresh(request, body: answer.body) { try? await refreshKeys() }
        return AnswerCheck(keys).judge(request, status: answer.status, body: answer.body)
    }

    /// Loads the gateway's public keys again.
    public func refreshKeys() async throws {
        let answer = try await target.get("/.well-known/jwks.json")
        guard answer.status == 200 else { throw DrillError("The gateway returned no public keys: \(answer.status).") }
        try state.withLock { try $0.keys.add(jwks: answer.body) }
    }

    /// The HTTP status of `/readyz`; nil without an answer.
    public func readiness() async -> Int? {
        try? await target.get("/readyz").status
    }
}
