import GatewayConfiguration
import GatewayHTTP
import Logging
import Synchronization

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
