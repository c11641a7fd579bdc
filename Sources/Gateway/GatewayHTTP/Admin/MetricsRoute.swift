import Hummingbird
import NIOCore

/// `GET /metrics`: Prometheus text format 0.0.4.
struct MetricsRoute {
    static let path = "/metrics"

    let exposition: @Sendable () async -> [UInt8]

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: await exposition())))
    }
}
