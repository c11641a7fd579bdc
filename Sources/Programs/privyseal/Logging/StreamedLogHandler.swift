import GatewayConfiguration
import GatewayHTTP
import Logging
import SigningKit
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
