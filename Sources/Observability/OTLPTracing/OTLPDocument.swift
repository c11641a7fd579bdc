import StrictJSON
import TraceContext
import Tracing

/// The body of a delivery: `ExportTraceServiceRequest` in the JSON of OTLP/HTTP (OpenTelemetry Protocol 1, "JSON
/// Protobuf Encoding"). Names are in camel case, IDs are lower-case hexadecimal digits, enumerations are numbers, and
/// 64-bit integers are strings.
struct OTLPDocument: Sendable {
    let resource: TraceResource

    func bytes(_ spans: [FinishedSpan]) -> [UInt8] {
        var writer = JSONWriter(capacity: 512 * (spans.count + 1))
        writer.object { root in
            root.name("resourceSpans")
            root.array { $0.object { group(spans, into: &$0) } }
        }
        return writer.bytes
    }

    private func group(_ spans: [FinishedSpan], into writer: inout JSONWriter) {
        writer.name("resource")
        writer.object { resource in
            resource.name("attributes")
            resource.array { list in
                list.attribute("service.name", .text(self.resource.serviceName))
                list.attribute("service.version", .text(self.resource.serviceVersion))
                list.attribute("host.name", .text(self.resource.hostName))
            }
        }
        writer.name("scopeSpans")
        writer.array { scopes in
            scopes.object { scope in
                scope.name("scope")
                scope.object { $0.member("name", "privyseal") }
                scope.name("spans")
                scope.array { list in
                    for span in spans { list.object { $0.span(span) } }
                }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func span(_ span: FinishedSpan) {
        let record = span.record
        member("traceId", unescaped: record.context.traceID.text)
        member("spanId", unescaped: record.context.spanID.text)
        if let state = record.context.state { member("traceState", state) }
        if let parent = record.parent { member("parentSpanId", unescaped: parent.text) }
        member("flags", record.context.flags.rawValue)
        member("name", record.name)
        member("kind", record.kind.number)
        member("startTimeUnixNano", "\(record.start)")
        member("endTimeUnixNano", "\(span.end)")
        attributes(span.attributes)
        list("events", record.events) { $0.event($1) }
        if record.droppedEvents > 0 { member("droppedEventsCount", record.droppedEvents) }
        list("links", record.links) { $0.link($1) }
        if record.droppedLinks > 0 { member("droppedLinksCount", record.droppedLinks) }
        if let status = record.status { self.status(status) }
    }

    private mutating func event(_ event: SpanRecord.Event) {
        member("timeUnixNano", "\(event.time)")
        member("name", event.name)
        attributes(event.attributes)
    }

    private mutating func link(_ link: SpanRecord.Link) {
        member("traceId", unescaped: link.context?.traceID.text ?? [])
        member("spanId", unescaped: link.context?.spanID.text ?? [])
        attributes(link.attributes)
    }

    private mutating func status(_ status: SpanStatus) {
        name("status")
        object { writer in
            writer.member("code", status.code.number)
            if let message = status.message { writer.member("message", message) }
        }
    }

    private mutating func attributes(_ attributes: BoundedAttributes) {
        list("attributes", attributes.pairs) { $0.keyValue($1.name, $1.value) }
        if attributes.dropped > 0 { member("droppedAttributesCount", attributes.dropped) }
    }

    private mutating func list<Element>(
        _ name: StaticString, _ elements: [Element], _ members: (inout JSONWriter, Element) -> Void
    ) {
        guard !elements.isEmpty else { return }
        self.name(name)
        array { list in
            for element in elements { list.object { members(&$0, element) } }
        }
    }
}

extension SpanKind {
    /// `SpanKind` of trace.proto.
    fileprivate var number: Int {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

extension SpanStatus.Code {
    /// `StatusCode` of trace.proto; 0 means a span without a status.
    fileprivate var number: Int {
        switch self {
        case .ok: 1
        case .error: 2
        }
    }
}
