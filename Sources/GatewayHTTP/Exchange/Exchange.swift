import Hummingbird
public import Logging
import Metrics
import SigningGateway
import Synchronization
import TraceContext

/// One request and its answer: what is found out on the way, for the answer's header, the log and the metrics.
public final class Exchange: Sendable {
    /// Of the request that the present task answers.
    @TaskLocal static var current: Exchange?

    /// The caller's own, where it gave one that can be logged.
    let requestID: String
    /// Nil when the caller sent none and nothing is traced.
    let trace: TraceContext?
    let begun: ContinuousClock.Instant
    private let notes = Mutex(Notes())

    struct Notes: Sendable {
        var client: String?
        /// On the admin listener.
        var administrator: Administrator?
        var app: String?
        var feature: String?
        var keyID: String?
        /// Whether the request was taken from the client's rate and quota.
        var isAdmitted = false
        var problem: ProblemKind?
        /// What the connection answered meanwhile, because this took too long.
        var ending: ProblemKind?
        /// What the body has taken of the bytes in flight.
        var body: BodyReservation?
        /// Where the client stands, when it is limited.
        var limit: RateLimitStatus?
    }

    init(requestID: String, trace: TraceContext?, begun: ContinuousClock.Instant = .now) {
        self.requestID = requestID
        self.begun = begun
        self.trace = trace
    }

    /// For contexts that no request has reached yet.
    static let none = Exchange(requestID: "-", trace: nil)

    var known: Notes { notes.withLock { $0 } }

    func note(_ change: (inout Notes) -> Void) { notes.withLock { change(&$0) } }

    func noteUnauthenticated(_ listener: ListenerName) {
        Counter(label: "privyseal_unauthenticated_total", dimensions: [("listener", listener.rawValue)]).increment()
    }

    /// Adds `requestId` and `traceId` to every line that is logged while a request is answered.
    public static let metadata = Logger.MetadataProvider {
        guard let exchange = current else { return [:] }
        var metadata: Logger.Metadata = ["requestId": "\(exchange.requestID)"]
        if let trace = exchange.trace { metadata["traceId"] = "\(trace.traceID)" }
        return metadata
    }
}
