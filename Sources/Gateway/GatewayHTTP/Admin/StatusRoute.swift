import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /v1/status`: JSON, or plain text with `Accept: text/plain`.
struct StatusRoute {
    static let path = "/v1/status"

    let administration: any Administration

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let status = await administration.status()
        guard request.headers[.accept]?.hasPrefix("text/plain") == true else { return .json(status) }
        return Response(
            status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: status.text)))
    }
}
