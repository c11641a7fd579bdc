public import Logging
import TraceContext
import Tracing

extension Logger.MetadataProvider {
    /// Adds `traceId` and `spanId` of the current span to every log line.
    public static let traceContext = Logger.MetadataProvider {
        guard let context = InstrumentationContext.current?.traceContext else { return [:] }
        return ["traceId": "\(context.traceID)", "spanId": "\(context.spanID)"]
    }
}
