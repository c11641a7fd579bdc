import Hummingbird
import NIOCore
import NIOPosix
import SigningKit
import Synchronization

/// `GET /openapi.yaml` and `GET /openapi.json`: the OpenAPI document of the public listener.
final class ContractRoutes: Sendable {
    static let yamlPath = "/openapi.yaml"
    static let jsonPath = "/openapi.json"

    private let document: OpenAPIDocument
    private let yamlBody: ByteBuffer
    /// Made by the first request for it.
    private let jsonBody = Mutex<ByteBuffer?>(nil)

    init(features: [FeatureDescriptor]) {
        document = OpenAPIDocument(features: features)
        yamlBody = ByteBuffer(string: document.yaml)
    }

    @Sendable func yaml(_ request: Request, _ context: GatewayContext) async throws -> Response {
        answer(yamlBody, as: "application/yaml")
    }

    @Sendable func json(_ request: Request, _ context: GatewayContext) async throws -> Response {
        // The conversion takes too long for an event loop.
        let body = try await NIOThreadPool.singleton.runIfActive { [self] in
            try jsonBody.withLock { body in
                let made = try body ?? ByteBuffer(bytes: document.json())
                body = made
                return made
            }
        }
        return answer(body, as: "application/json")
    }

    private func answer(_ body: ByteBuffer, as contentType: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body))
    }
}
