import GatewayConfiguration
import Hummingbird
public import Logging
import Metrics
import Signing
import Synchronization
import TraceContext

/// One request and its answer. It collects facts for the answer's header, the log and the metrics.
public final class RequestScope: Sendable {
    /// The scope of the current task's request.
    @TaskLocal static var current: RequestScope?

    let requestID: String
    /// Nil if the caller sent none and tracing is off.
    let trace: TraceContext?
    let begun: ContinuousClock.Instant
    private let notes = Mutex(Notes())

    struct Notes: Sendable {
        var client: String?
        /// Set on the admin listener only.
        var administrator: Administrator?
        var app: String?
        var feature: String?
        var keyID: String?
        /// Whether the request was charged to the client's rate and quota.
        var isAdmitted = false
        var problem: ProblemKind?
        /// The problem with which the connection answered before the route did.
        var ending: ProblemKind?
        /// The part of the body budget that this request's body has reserved.
        var body: BodyReservation?
        /// The state of the client's limit; nil if it has none.
        var limit: RateLimitStatus?
    }

    init(requestID: String, trace: TraceContext?, begun: ContinuousClock.Instant = .now) {
        self.requestID = requestID
        self.begun = begun
        self.trace = trace
    }

    /// For contexts without a request.
    static let none = RequestScope(requestID: "-", trace: nil)

    var known: Notes { notes.withLock { $0 } }

    func note(_ change: (inout Notes) -> Void) { notes.withLock { change(&$0) } }

    func noteUnauthenticated(_ listener: ListenerName) {
        Counter(label: "privyseal_unauthenticated_total", dimensions: [("listener", listener.rawValue)]).increment()
    }

    /// Adds `requestId` and `traceId` to every log line of a request.
    public static let metadata = Logger.MetadataProvider {
        guard let scope = current else { return [:] }
        var metadata: Logger.Metadata = ["requestId": "\(scope.requestID)"]
        if let trace = scope.trace { metadata["traceId"] = "\(trace.traceID)" }
        return metadata
    }
}
