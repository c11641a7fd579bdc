import SigningKit
import Tracing

/// The trace span of a signature, from the key's queue to the verified signature. Made only within a trace.
enum KeyCallSpan {
    static func around(
        _ key: ServedApp.Key, _ context: ServiceContext, _ body: () async throws(KeyError) -> P256Signature
    ) async throws(KeyError) -> P256Signature {
        let span = InstrumentationSystem.tracer.startSpan("sign", context: context, ofKind: .internal)
        defer { span.end() }
        span.attributes["privyseal.key_id"] = key.identity.keyID
        if let custody = key.handle.custody { span.attributes["privyseal.custody"] = custody.rawValue }
        do throws(KeyError) {
            return try await body()
        } catch {
            span.setStatus(SpanStatus(code: .error, message: "\(error)"))
            throw error
        }
    }
}
