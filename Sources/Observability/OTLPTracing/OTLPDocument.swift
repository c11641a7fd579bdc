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

    /// A span within the limits of `SpanRecord`, which also bound the bytes of the queue.
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

extension String {
    fileprivate var bounded: String {
        guard utf8.count > SpanRecord.textLimit else { return self }
        return String(unicodeScalars.prefix(SpanRecord.textLimit))
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
        // Sorted by name. Those beyond the limit are counted.
        var attributes: [(name: String, value: SpanAttribute)] = []
        span.attributes.forEach { attributes.append(($0, $1)) }
        attributes.sort { $0.name < $1.name }
        let kept = attributes.prefix(SpanRecord.attributeLimit)
        list("attributes", kept) { $0.keyValue($1.name.bounded, $1.value) }
        if kept.count < attributes.count { member("droppedAttributesCount", attributes.count - kept.count) }
        guard let status = span.status else { return }
        name("status")
        object { writer in
            // `StatusCode` of trace.proto; 0 means a span without a status.
            writer.member("code", status.code == .error ? 2 : 1)
            if let message = status.message { writer.member("message", message.bounded) }
        }
    }

    /// `KeyValue` of common.proto, with an `AnyValue`. An array is written without a value: the gateway sets none.
    fileprivate mutating func keyValue(_ name: String, _ value: SpanAttribute) {
        member("key", name)
        self.name("value")
        object { writer in
            switch value {
            case .string(let text): writer.member("stringValue", text.bounded)
            case .stringConvertible(let value): writer.member("stringValue", value.description.bounded)
            case .int32(let number): writer.member("intValue", "\(number)")
            case .int64(let number): writer.member("intValue", "\(number)")
            case .bool(let isTrue): writer.member("boolValue", isTrue)
            // JSON has no infinities and no NaN.
            case .double(let number) where !number.isFinite: writer.member("stringValue", "\(number)")
            case .double(let number):
                writer.name("doubleValue")
                writer.raw("\(number)".utf8)
            default: break
            }
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
