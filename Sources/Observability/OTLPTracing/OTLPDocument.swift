import Glibc
import StrictJSON
import TraceContext
import Tracing

/// The body of a delivery: `ExportTraceServiceRequest` in the JSON of OTLP/HTTP (OpenTelemetry Protocol 1, "JSON
/// Protobuf Encoding"). Names are in camel case, IDs are lower-case hexadecimal digits, enumerations are numbers, and
/// 64-bit integers are strings.
struct OTLPDocument: Sendable {
    let resource: TraceResource

    /// - Parameter spans: results of `span`.
    func bytes(_ spans: [[UInt8]]) -> [UInt8] {
        var writer = JSONWriter(capacity: 512 + spans.reduce(0) { $0 + $1.count + 1 })
        writer.object { root in
            root.list("resourceSpans", [resource]) { group, resource in
                group.name("resource")
                group.object { writer in
                    let attributes = [
                        ("service.name", resource.serviceName), ("service.version", resource.serviceVersion),
                        ("host.name", resource.hostName),
                    ]
                    writer.list("attributes", attributes) { $0.keyValue($1.0, .string($1.1)) }
                }
                group.list("scopeSpans", [spans]) { scope, spans in
                    scope.name("scope")
                    scope.object { $0.member("name", "privyseal") }
                    scope.name("spans")
                    scope.array { list in for span in spans { list.raw(span) } }
                }
            }
        }
        return writer.bytes
    }

    /// A span within `SpanLimits`, which also bound the bytes of the queue.
    static func span(_ span: SpanRecord) -> [UInt8] {
        var writer = JSONWriter(capacity: 768)
        writer.object { $0.members(of: span) }
        return writer.bytes
    }
}

/// The producer of the spans (OpenTelemetry's resource attributes).
public struct TraceResource: Sendable {
    public let serviceName: String
    public let serviceVersion: String
    public let hostName: String

    /// - Parameter hostName: nil for the system's host name.
    public init(serviceName: String, serviceVersion: String, hostName: String? = nil) {
        self.serviceName = serviceName
        self.serviceVersion = serviceVersion
        self.hostName = hostName ?? Self.systemHostName()
    }

    private static func systemHostName() -> String {
        var buffer = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard gethostname(&buffer, buffer.count) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The limits of the JSON of one span; that of its events is in `SpanRecord`.
private enum SpanLimits {
    /// For the span, and for each event.
    static let attributes = 64
    /// For an array.
    static let elements = 32
    /// Unicode scalars in a name or text. The rest is cut off.
    static let scalars = 1024
}

extension String {
    fileprivate var bounded: String {
        guard utf8.count > SpanLimits.scalars else { return self }
        return String(unicodeScalars.prefix(SpanLimits.scalars))
    }
}

extension JSONWriter {
    fileprivate mutating func members(of span: SpanRecord) {
        member("traceId", "\(span.trace.traceID)")
        member("spanId", "\(span.trace.spanID)")
        if let state = span.trace.state { member("traceState", state) }
        if let parent = span.parent { member("parentSpanId", "\(parent)") }
        member("flags", span.trace.isSampled ? 1 : 0)
        member("name", span.name.bounded)
        member("kind", span.kind.number)
        member("startTimeUnixNano", "\(span.start)")
        member("endTimeUnixNano", "\(span.end)")
        attributes(span.attributes)
        list("events", span.events) { writer, event in
            writer.member("timeUnixNano", "\(event.nanosecondsSinceEpoch)")
            writer.member("name", event.name.bounded)
            writer.attributes(event.attributes)
        }
        if span.droppedEvents > 0 { member("droppedEventsCount", span.droppedEvents) }
        guard let status = span.status else { return }
        name("status")
        object { writer in
            writer.member("code", status.code.number)
            if let message = status.message { writer.member("message", message.bounded) }
        }
    }

    /// Attributes sorted by name. Those beyond the limit are counted.
    private mutating func attributes(_ attributes: SpanAttributes) {
        var all: [(name: String, value: SpanAttribute)] = []
        attributes.forEach { all.append(($0, $1)) }
        all.sort { $0.name < $1.name }
        let kept = all.prefix(SpanLimits.attributes)
        list("attributes", kept) { $0.keyValue($1.name.bounded, $1.value) }
        if kept.count < all.count { member("droppedAttributesCount", all.count - kept.count) }
    }

    /// `KeyValue` of common.proto.
    fileprivate mutating func keyValue(_ name: String, _ value: SpanAttribute) {
        member("key", name)
        self.name("value")
        self.value(value)
    }

    /// `AnyValue` of common.proto.
    private mutating func value(_ value: SpanAttribute) {
        object { writer in
            switch value {
            case .string(let text): writer.member("stringValue", text.bounded)
            case .stringConvertible(let value): writer.member("stringValue", value.description.bounded)
            case .int32(let number): writer.member("intValue", "\(number)")
            case .int64(let number): writer.member("intValue", "\(number)")
            case .bool(let isTrue): writer.member("boolValue", isTrue)
            case .double(let number): writer.member("doubleValue", double: number)
            case .stringArray(let texts): writer.values(texts.map { .string($0) })
            case .stringConvertibleArray(let values): writer.values(values.map { .stringConvertible($0) })
            case .int32Array(let numbers): writer.values(numbers.map { .int32($0) })
            case .int64Array(let numbers): writer.values(numbers.map { .int64($0) })
            case .doubleArray(let numbers): writer.values(numbers.map { .double($0) })
            case .boolArray(let values): writer.values(values.map { .bool($0) })
            // The name of the enum's last case forbids an exhaustive switch.
            default: break
            }
        }
    }

    private mutating func values(_ values: [SpanAttribute]) {
        name("arrayValue")
        object { writer in
            writer.name("values")
            writer.array { list in for value in values.prefix(SpanLimits.elements) { list.value(value) } }
        }
    }

    /// JSON has no infinities and no NaN; Protobuf's JSON mapping writes their names.
    private mutating func member(_ name: StaticString, double number: Double) {
        self.name(name)
        if number.isFinite {
            raw("\(number)".utf8)
        } else {
            string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        }
    }

    /// An array of objects; an empty one is left out.
    fileprivate mutating func list<Element>(
        _ name: StaticString, _ elements: some Collection<Element>, _ members: (inout JSONWriter, Element) -> Void
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
