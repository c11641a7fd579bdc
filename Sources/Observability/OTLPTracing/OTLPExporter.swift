import AsyncHTTPClient
public import Logging
public import Metrics
import NIOCore
import NIOHTTP1
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

/// A bounded queue of spans that wait for delivery, as JSON. A thread that ends a span waits only for a lock.
final class SpanQueue: Sendable {
    /// Signals that a batch is full or that the interval is over. Ends with `close`.
    let signal: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let limit: Int
    private let batchSize: Int
    private let dropped: Counter
    private let state = Mutex(State())

    private struct State {
        var spans: [[UInt8]] = []
        var isStopped = false
    }

    /// - Parameter limit: the largest number of waiting spans; further ones are dropped.
    init(limit: Int, batchSize: Int, dropped: Counter) {
        self.limit = max(1, limit)
        // A batch larger than the limit would never fill, so spans would be dropped until the interval is over.
        self.batchSize = min(max(1, batchSize), self.limit)
        self.dropped = dropped
        // One pending signal is enough.
        (signal, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a span that has ended. Returns at once, even if the span is dropped.
    @Sendable func take(_ span: SpanRecord) {
        let json = OTLPDocument.span(span)
        let count = state.withLock { state -> Int? in
            guard !state.isStopped, state.spans.count < limit else { return nil }
            state.spans.append(json)
            return state.spans.count
        }
        switch count {
        case nil: drop(1)
        case batchSize: ring()
        default: break
        }
    }

    func ring() { continuation.yield() }

    /// Ends the signals. The queue still accepts spans.
    func close() { continuation.finish() }

    /// The oldest spans; nil if none are waiting.
    func nextBatch() -> [[UInt8]]? {
        state.withLock { state in
            guard !state.spans.isEmpty else { return nil }
            defer { state.spans.removeFirst(min(batchSize, state.spans.count)) }
            return Array(state.spans.prefix(batchSize))
        }
    }

    /// Drops the waiting spans, and all later ones.
    func stop() {
        let rest = state.withLock { state in
            state.isStopped = true
            defer { state.spans = [] }
            return state.spans.count
        }
        drop(rest)
    }

    /// Counts spans that will not be delivered.
    func drop(_ count: Int) {
        if count > 0 { dropped.increment(by: Int64(count)) }
    }
}

/// Sends deliveries to a collector.
public protocol OTLPTransport: Sendable {
    /// The collector's address for log lines, without user name and password.
    var destination: String { get }

    /// Sends one delivery, JSON in UTF-8. The time is bounded.
    func post(_ body: [UInt8]) async throws(DeliveryProblem)
}

/// Why a delivery fails.
public enum DeliveryProblem: Error, Equatable {
    /// No listener, an unknown name, or a TLS failure, as text for people.
    case unreachable(String)
    case timedOut
    /// A status that is not 2xx. The duration is that of `Retry-After`, if it is a number of seconds.
    case status(Int, retryAfter: Duration?)

    /// Whether a retry may succeed (OTLP/HTTP, "Retryable Response Codes").
    var isRetryable: Bool {
        switch self {
        case .unreachable, .timedOut: true
        case .status(let status, _): [429, 502, 503, 504].contains(status)
        }
    }

    var retryAfter: Duration? {
        if case .status(_, let duration) = self { duration } else { nil }
    }

    /// The rest of a sentence that begins with the endpoint. Problems with equal summaries in a row are logged once.
    var summary: String {
        switch self {
        case .unreachable: "cannot be reached"
        case .timedOut: "does not answer in time"
        case .status(let status, _): "answers \(status)"
        }
    }
}

/// OTLP/HTTP: one POST for each delivery, over a persistent connection.
public struct OTLPHTTPTransport: OTLPTransport {
    public let destination: String
    private let endpoint: String

    /// Made by the first delivery. It lives until the process ends, because an `HTTPClient` must not be released unless
    /// it is shut down.
    private static let client = HTTPClient(
        eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)

    private static let connectTimeout = TimeAmount.seconds(3)
    /// The limit for one delivery, from the first byte to the response.
    private static let timeout = TimeAmount.seconds(10)
    /// The limit of a response body. The body is read only so that the connection can be reused.
    private static let longestAnswer = 64 * 1024

    /// - Parameter endpoint: an http or https URL with its path, such as `http://127.0.0.1:4318/v1/traces`.
    public init(endpoint: String) {
        self.endpoint = endpoint
        destination = Self.withoutUser(endpoint)
    }

    public func post(_ body: [UInt8]) async throws(DeliveryProblem) {
        var request = HTTPClientRequest(url: endpoint)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "privyseal")
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            response = try await Self.client.execute(request, timeout: Self.timeout)
        } catch let error as HTTPClientError where Self.timeouts.contains(error) {
            throw .timedOut
        } catch {
            throw .unreachable("\(error)")
        }
        _ = try? await response.body.collect(upTo: Self.longestAnswer)
        guard (200..<300).contains(response.status.code) else {
            let seconds = response.headers.first(name: "Retry-After").flatMap { UInt16($0) }
            throw .status(Int(response.status.code), retryAfter: seconds.map { .seconds(Int($0)) })
        }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: connectTimeout, read: timeout),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The exporter retries itself, so a retry in the client gains nothing.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The client would make a span for each of its requests, so each delivery would cause another one.
        configuration.tracing.tracer = nil
        return configuration
    }

    private static let timeouts: [HTTPClientError] = [.deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout]

    /// Removes `user:password@` from a URL.
    private static func withoutUser(_ endpoint: String) -> String {
        guard let scheme = endpoint.firstRange(of: "://") else { return endpoint }
        let authority = endpoint[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return endpoint }
        return "\(endpoint[..<scheme.upperBound])\(endpoint[endpoint.index(after: at)...])"
    }
}
