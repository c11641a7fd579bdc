import TraceContext
import Tracing

/// The data of a span before its end.
struct SpanRecord: Sendable {
    struct Event: Sendable {
        let name: String
        /// Nanoseconds since 1970 in UTC, like all times here.
        let time: UInt64
        let attributes: BoundedAttributes
    }

    struct Link: Sendable {
        /// Nil for a link to a context without a trace.
        let context: TraceContext?
        let attributes: BoundedAttributes
    }

    var name: String
    let kind: SpanKind
    let context: TraceContext
    let parent: SpanID?
    let start: UInt64
    /// Not bounded yet, because callers can read them back.
    var attributes = SpanAttributes()
    private(set) var events: [Event] = []
    private(set) var links: [Link] = []
    var status: SpanStatus?
    /// The number of events beyond the limit.
    private(set) var droppedEvents = 0
    private(set) var droppedLinks = 0

    init(name: String, kind: SpanKind, context: TraceContext, parent: SpanID?, start: UInt64) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.start = start
    }

    mutating func add(_ event: SpanEvent) {
        guard events.count < SpanLimits.events else { return droppedEvents += 1 }
        events.append(
            Event(
                name: event.name.bounded, time: event.nanosecondsSinceEpoch,
                attributes: BoundedAttributes(event.attributes)))
    }

    mutating func add(_ link: SpanLink) {
        guard links.count < SpanLimits.links else { return droppedLinks += 1 }
        links.append(Link(context: link.context.traceContext, attributes: BoundedAttributes(link.attributes)))
    }
}

struct FinishedSpan: Sendable {
    let record: SpanRecord
    let attributes: BoundedAttributes
    let end: UInt64

    init(_ record: SpanRecord, end: UInt64) {
        attributes = BoundedAttributes(record.attributes)
        var record = record
        record.attributes = [:]
        record.name = record.name.bounded
        record.status = record.status.map { SpanStatus(code: $0.code, message: $0.message?.bounded) }
        self.record = record
        self.end = end
    }
}
