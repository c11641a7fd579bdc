import GatewayConfiguration
import GatewayHTTP
import Logging
import SigningKit
import StrictJSON
import Synchronization

/// Writes swift-log's events to standard error. The level can change while the program runs.
struct StreamedLogHandler: LogHandler {
    /// The level of every logger without its own.
    static let level = Atomic<Int>(Logger.Level.info.number)

    let label: String
    let format: GatewayConfiguration.Logging.Format
    let recent: RecentEvents?
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private(set) var ownLevel: Logger.Level?

    var logLevel: Logger.Level {
        get { ownLevel ?? Logger.Level(number: Self.level.load(ordering: .relaxed)) }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadataProvider?.get() ?? [:]
        all.merge(metadata) { $1 }
        all.merge(event.metadata ?? [:]) { $1 }
        // Hummingbird's own number of the request; `requestId` replaces it.
        all["hb.request.id"] = nil
        let fields = all.sorted { $0.key < $1.key }.map { (name: $0.key, value: LogLine.Value.text("\($0.value)")) }
        let line = LogLine(level: event.level, logger: label, message: "\(event.message)", fields: fields)
        LogStream.standardError.write(line: line.bytes(format))
        if event.level >= .warning { recent?.note(line) }
    }
}

/// Writes the access log to standard error.
struct StreamedAccessLog: AccessLog {
    let format: GatewayConfiguration.Logging.Format

    /// Load balancers and Prometheus request these routes continually.
    private static let probes: Set<String?> = ["/livez", "/readyz", "/metrics"]

    func write(_ record: AccessRecord) {
        let level: Logger.Level = Self.probes.contains(record.route) ? .debug : record.status >= 500 ? .warning : .info
        guard level.number >= StreamedLogHandler.level.load(ordering: .relaxed) else { return }
        let route = record.route ?? "unknown path"
        var fields: [(name: String, value: LogLine.Value)] = []
        fields.reserveCapacity(9)
        fields.append(("status", .number(record.status)))
        fields.append(("durationMs", .duration(record.duration)))
        fields.append(("listener", .text(record.listener.rawValue)))
        if let client = record.client { fields.append(("client", .text(client))) }
        if let app = record.app { fields.append(("app", .text(app))) }
        if let feature = record.feature { fields.append(("feature", .text(feature))) }
        if let problem = record.problem { fields.append(("problem", .text(problem))) }
        fields.append(("requestId", .text(record.requestID)))
        if let trace = record.traceID { fields.append(("traceId", .text(trace))) }
        let line = LogLine(
            level: level, logger: "privyseal.access", message: "\(record.method) \(route)", fields: fields)
        LogStream.standardError.write(line: line.bytes(format))
    }
}

extension Logger.Level {
    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    init(number: Int) {
        self = Self.allCases.indices.contains(number) ? Self.allCases[number] : .info
    }
}

/// The last warnings and errors, for `privyseal status`.
final class RecentEvents: Sendable {
    private static let limit = 20
    private let events = Mutex<[ProcessEvent]>([])

    func note(_ line: LogLine) {
        let event = ProcessEvent(
            time: Timestamp.now().text, level: line.level.rawValue, message: line.message)
        events.withLock { events in
            if events.count == Self.limit { events.removeFirst() }
            events.append(event)
        }
    }

    /// Oldest first.
    var all: [ProcessEvent] { events.withLock { $0 } }
}

/// One event as one line: a JSON object, or text.
struct LogLine {
    enum Value {
        case text(String)
        case number(Int)
        /// Printed in milliseconds with three decimal places.
        case duration(Duration)
    }

    let level: Logger.Level
    let logger: String
    let message: String
    let fields: [(name: String, value: Value)]

    func bytes(_ format: GatewayConfiguration.Logging.Format) -> [UInt8] {
        switch format {
        case .json: json
        case .text: text
        }
    }

    private var json: [UInt8] {
        var writer = JSONWriter(capacity: 384)
        writer.object { writer in
            writer.name("time")
            writer.unescaped(Timestamp.now().rfc3339)
            writer.member("level", level.rawValue)
            writer.member("logger", logger)
            writer.member("message", message)
            for field in fields {
                writer.name(escaping: field.name)
                switch field.value {
                case .text(let text): writer.string(text)
                case .number(let number): writer.integer(number)
                case .duration(let duration): writer.raw(Self.milliseconds(duration))
                }
            }
        }
        return writer.bytes
    }

    private var text: [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(384)
        line += Timestamp.now().rfc3339
        line += " \(level.rawValue) \(logger): ".utf8
        Self.append(message, to: &line)
        for field in fields {
            line += " \(field.name)=".utf8
            switch field.value {
            case .text(let text): Self.append(text, to: &line)
            case .number(let number): line += "\(number)".utf8
            case .duration(let duration): line += Self.milliseconds(duration)
            }
        }
        return line
    }

    /// Replaces control characters, which could add lines or control a terminal.
    private static func append(_ text: String, to line: inout [UInt8]) {
        // Nearly all texts.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            line += text.utf8
            return
        }
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            line += isControl ? [UInt8(ascii: " ")] : Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }

    private static func milliseconds(_ duration: Duration) -> [UInt8] {
        let microseconds = max(0, duration.microseconds)
        var text = Array("\(microseconds / 1000).".utf8)
        for divisor in [100, 10, 1] as [Int64] {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: microseconds / divisor % 10))
        }
        return text
    }
}
