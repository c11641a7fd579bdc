public import Logging
public import Metrics
public import ServiceLifecycle

/// Delivers spans in batches. No request waits for the endpoint. If the queue is full or the endpoint fails, spans are
/// dropped and counted in `privyseal_spans_dropped_total`. In a service group, place it before the services that make
/// spans, so that it stops after them.
public final class OTLPExporter: Service {
    let queue: SpanQueue
    private let settings: ExportSettings
    private let document: OTLPDocument
    private let transport: any OTLPTransport
    private let log: DeliveryLog
    private let pause: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - metrics: nil for the program's default factory.
    ///   - pause: waits between attempts; tests replace it.
    public init(
        _ resource: TraceResource,
        to transport: any OTLPTransport,
        settings: ExportSettings = ExportSettings(),
        logger: Logger = Logger(label: "privyseal.tracing"),
        metrics: (any MetricsFactory)? = nil,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        let label = "privyseal_spans_dropped_total"
        queue = SpanQueue(
            limit: settings.queueLimit, batchSize: settings.batchSize,
            dropped: metrics.map { Counter(label: label, factory: $0) } ?? Counter(label: label))
        self.settings = settings
        document = OTLPDocument(resource: resource)
        self.transport = transport
        log = DeliveryLog(logger, destination: transport.destination)
        self.pause = pause
    }

    /// Delivers until the program ends, then delivers waiting spans for at most `flushTime`.
    public func run() async throws {
        await withTaskGroup { group in
            group.addTask { await self.deliverOnSignal() }
            group.addTask { await self.signalAtInterval() }
            group.addTask { await self.flushOnShutdown() }
            // Either everything is delivered, or `flushTime` is over.
            await group.next()
            group.cancelAll()
        }
        queue.stop()
        await transport.close()
    }

    private func deliverOnSignal() async {
        for await _ in queue.signal { await deliverWaitingSpans() }
        await deliverWaitingSpans()
    }

    private func signalAtInterval() async {
        while (try? await Task.sleep(for: settings.interval)) != nil { queue.ring() }
    }

    private func flushOnShutdown() async {
        try? await gracefulShutdown()
        queue.close()
        try? await Task.sleep(for: settings.flushTime)
    }

    private func deliverWaitingSpans() async {
        while !Task.isCancelled, let batch = queue.nextBatch() {
            if await !deliver(document.bytes(batch)) { queue.drop(batch.count) }
        }
    }

    /// - Returns: whether the delivery succeeded.
    private func deliver(_ body: [UInt8]) async -> Bool {
        var delay = settings.initialBackoff
        for attempt in 1...max(1, settings.attempts) {
            let (problem, retryAfter) = await attemptToDeliver(body)
            guard let problem else { return true }
            guard problem.isRetryable, attempt < settings.attempts else { return false }
            // The random factor keeps clients that were refused together from retrying together.
            let wanted = max(delay * Double.random(in: 0.5...1), retryAfter ?? .zero)
            do { try await pause(min(wanted, settings.maximumBackoff)) } catch { return false }
            delay *= 2
        }
        return false
    }

    private func attemptToDeliver(_ body: [UInt8]) async -> (DeliveryProblem?, retryAfter: Duration?) {
        do {
            let answer = try await transport.post(body)
            let problem = (200..<300).contains(answer.status) ? nil : DeliveryProblem.status(answer.status)
            log.note(problem)
            return (problem, answer.retryAfter)
        } catch {
            // A delivery cancelled at the program's end says nothing about the endpoint.
            if !Task.isCancelled { log.note(error.problem, detail: error.detail) }
            return (error.problem, nil)
        }
    }
}

extension OTLPTransportError {
    fileprivate var problem: DeliveryProblem {
        switch self {
        case .unreachable: .unreachable
        case .timedOut: .timedOut
        }
    }

    fileprivate var detail: String? {
        switch self {
        case .unreachable(let reason): reason
        case .timedOut: nil
        }
    }
}
