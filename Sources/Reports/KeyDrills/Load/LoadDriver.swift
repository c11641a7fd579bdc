public import SigningKit
import Synchronization

/// The size and the pace of a drill's load.
public struct LoadSettings: Sendable {
    public var connections: Int
    /// Requests per second, over all connections.
    public var rate: Double
    /// The maximum number of requests. The record has a deviation if the load uses them all.
    public var total: Int

    public init(connections: Int, rate: Double, total: Int) {
        (self.connections, self.rate, self.total) = (connections, rate, total)
    }
}

/// Sends requests throughout the drill, and checks and keeps each answer.
public final class LoadDriver: Sendable {
    private struct State {
        var keys = PublicKeys()
        /// In order of arrival.
        var answers: [LoadAnswer] = []
        var sent = 0
        var due: ContinuousClock.Instant?
        var isStopped = false
        var isOver = false
    }

    private let settings: LoadSettings
    private let target: LoadTarget
    private let bundleID: String
    private let requests: [LoadRequest]
    private let state = Mutex(State())
    private let clock: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - bundleID: The app in all requests.
    ///   - requests: Sent in rotation.
    public init(
        _ settings: LoadSettings, to target: LoadTarget, bundleID: String, requests: [LoadRequest],
        clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.settings, self.target, self.bundleID) = (settings, target, bundleID)
        (self.requests, self.clock) = (requests, clock)
    }

    public var keys: PublicKeys { state.withLock { $0.keys } }

    public var answers: [LoadAnswer] { state.withLock { $0.answers } }

    /// Whether the driver has sent `LoadSettings.total` requests.
    public var isExhausted: Bool { state.withLock { $0.sent >= settings.total } }

    public func stop() { state.withLock { $0.isStopped = true } }

    /// Returns after `stop`, or when all requests were sent.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<settings.connections { group.addTask { await self.work() } }
        }
        state.withLock { $0.isOver = true }
    }

    private func work() async {
        while !Task.isCancelled, let (number, due) = next() {
            // With many connections and a low rate, a request is due in a minute. `stop` must not wait for it.
            while ContinuousClock.now < due, !state.withLock({ $0.isStopped }) {
                let end = min(due, .now + .milliseconds(100))
                guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
            }
            guard !state.withLock({ $0.isStopped }) else { return }
            record(await probe(requests[number % requests.count]).answer)
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

    // MARK: Answers

    func record(_ answer: LoadAnswer) { state.withLock { $0.answers.append(answer) } }

    /// The first matching answer, already recorded or arriving within `limit`; nil if the load ends without one.
    public func first(within limit: Duration = .seconds(20), where matches: (LoadAnswer) -> Bool) async -> LoadAnswer? {
        let end = ContinuousClock.now + limit
        var seen = 0
        while true {
            let (answer, isOver) = state.withLock { state in
                defer { seen = state.answers.count }
                return (state.answers[seen...].first(where: matches), state.isOver)
            }
            if let answer { return answer }
            guard !isOver, ContinuousClock.now < end, !Task.isCancelled else { return nil }
            // Each answer has its own times, so this interval does not change what the drill measures.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    // MARK: Single requests

    public typealias Probe = (answer: LoadAnswer, body: [UInt8])

    /// Sends a request and checks its answer, without recording it as an answer of the load.
    public func probe(_ request: LoadRequest) async -> Probe {
        let begun = clock()
        do {
            let answer = try await target.ask(request.path(bundleID), body: request.body)
            let ended = clock()
            func judge() -> LoadAnswer.Outcome {
                AnswerCheck(keys: keys, bundleID: bundleID).judge(request, status: answer.status, body: answer.body)
            }
            var outcome = judge()
            if case .wronglySigned = outcome {
                // The answer may name a new key.
                try? await refreshKeys()
                outcome = judge()
            }
            return (LoadAnswer(begun: begun, ended: ended, outcome: outcome), answer.body)
        } catch {
            return (LoadAnswer(begun: begun, ended: clock(), outcome: .failed(LoadTarget.reason(error))), [])
        }
    }

    /// Loads the gateway's public keys again.
    public func refreshKeys() async throws {
        let answer = try await target.ask("/.well-known/jwks.json")
        guard answer.status == 200 else { throw DrillError("The gateway returned no public keys: \(answer.status).") }
        try state.withLock { try $0.keys.add(jwks: answer.body) }
    }

    /// The HTTP status of `/readyz`; nil without an answer.
    public func readiness() async -> Int? { try? await target.ask("/readyz").status }
}
