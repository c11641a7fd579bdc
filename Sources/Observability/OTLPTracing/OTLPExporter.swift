public import Logging
public import Metrics
public import ServiceLifecycle
import Synchronization

/// Settings for the delivery of spans. The defaults suit a collector on the local network.
public struct ExportSettings: Sendable {
    /// The largest number of waiting spans; further ones are dropped.
    public var queueLimit = 2048
    /// The largest number of spans in one delivery. A full batch is delivered at once, a smaller one after `interval`.
    public var batchSize = 256
    public var interval = Duration.seconds(2)
    /// Attempts for one delivery, including the first. After the last, its spans are dropped.
    public var attempts = 5
    /// The pause after the first failed attempt. It doubles with each attempt, and a random factor of 0.5 to 1 applies.
    public var initialBackoff = Duration.seconds(1)
    /// The longest pause between two attempts, even if `Retry-After` asks for more.
    public var maximumBackoff = Duration.seconds(30)
    /// The time to deliver waiting spans when the program ends.
    public var flushTime = Duration.seconds(5)

    public init() {}
}

/// Delivers spans in batches. No request waits for the endpoint. If the queue is full or the endpoint fails, spans are
/// dropped and counted in `privyseal_spans_dropped_total`. In a service group, place it before the services that make
/// spans, so that it stops after them.
public final class OTLPExporter: Service {
    let queue: SpanQueue
    private let settings: ExportSettings
    private let document: OTLPDocument
    private let transport: any OTLPTransport
    private let logger: Logger
    /// The summary of the problem that was logged last; nil after a success.
    private let loggedProblem = Mutex<String?>(nil)
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
        self.logger = logger
        self.pause = pause
    }

    /// Delivers until the program ends, then delivers waiting spans for at most `flushTime`.
    public func run() async throws {
        await withTaskGroup { group in
            group.addTask { await self.deliverOnSignal() }
            group.addTask {
                while (try? await Task.sleep(for: self.settings.interval)) != nil { self.queue.ring() }
            }
            group.addTask {
                try? await gracefulShutdown()
                self.queue.close()
                try? await Task.sleep(for: self.settings.flushTime)
            }
            // Either everything is delivered, or `flushTime` is over.
            await group.next()
            group.cancelAll()
        }
        queue.stop()
    }

    private func deliverOnSignal() async {
        for await _ in queue.signal { await deliverWaitingSpans() }
        await deliverWaitingSpans()
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
            guard let problem = await attemptToDeliver(body) else { return true }
            guard problem.isRetryable, attempt < settings.attempts else { return false }
            // The random factor keeps clients that were refused together from retrying together.
            let wanted = max(delay * Double.random(in: 0.5...1), problem.retryAfter ?? .zero)
            do { try await pause(min(wanted, settings.maximumBackoff)) } catch { return false }
            delay *= 2
        }
        return false
    }

    private func attemptToDeliver(_ body: [UInt8]) async -> DeliveryProblem? {
        do throws(DeliveryProblem) {
            try await transport.post(body)
            log(nil)
            return nil
        } catch {
            // A delivery cancelled at the program's end says nothing about the endpoint.
            if !Task.isCancelled { log(error) }
            return error
        }
    }

    /// Logs when deliveries begin to fail, fail for another reason, or succeed again, but not each failure.
    private func log(_ problem: DeliveryProblem?) {
        let isNews = loggedProblem.withLock { logged in
            defer { logged = problem?.summary }
            return logged != problem?.summary
        }
        guard isNews else { return }
        let metadata: Logger.Metadata = ["endpoint": "\(transport.destination)"]
        guard let problem else { return logger.notice("Traces are delivered again", metadata: metadata) }
        let detail = if case .unreachable(let reason) = problem { " (\(reason))" } else { "" }
        logger.warning("Traces cannot be delivered: the endpoint \(problem.summary)\(detail)", metadata: metadata)
    }
}
