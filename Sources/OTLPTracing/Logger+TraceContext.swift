public import Logging
import TraceContext
import Tracing

extension Logger.MetadataProvider {
    /// Puts `traceId` and `spanId` of the current span on every line that is logged in it.
    public static let traceContext = Logger.MetadataProvider {
        guard let context = InstrumentationContext.current?.traceContext else { return [:] }
        return ["traceId": "\(context.traceID)", "spanId": "\(context.spanID)"]
    }
}
