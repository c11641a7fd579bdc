import Glibc

/// Who made the spans (OpenTelemetry's resource attributes).
public struct TraceResource: Sendable {
    /// `service.name`
    public let serviceName: String
    /// `service.version`
    public let serviceVersion: String
    /// `host.name`
    public let hostName: String

    /// - Parameter hostName: nil for what the system says.
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
