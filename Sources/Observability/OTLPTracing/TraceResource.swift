import Glibc

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
