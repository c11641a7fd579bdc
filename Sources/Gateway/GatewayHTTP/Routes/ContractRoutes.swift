import Hummingbird
import NIOCore

/// `GET /openapi.yaml` and `GET /openapi.json`: the OpenAPI document of the public listener, compiled into the program.
struct ContractRoutes {
    static let yamlPath = "/openapi.yaml"
    static let jsonPath = "/openapi.json"

    /// Created once; all answers share the bytes.
    private static let yamlBody = ByteBuffer(bytes: PackageResources.openapi_yaml)
    private static let jsonBody = ByteBuffer(bytes: PackageResources.openapi_json)

    @Sendable func yaml(_ request: Request, _ context: GatewayContext) async throws -> Response {
        answer(Self.yamlBody, as: "application/yaml")
    }

    @Sendable func json(_ request: Request, _ context: GatewayContext) async throws -> Response {
        answer(Self.jsonBody, as: "application/json")
    }

    private func answer(_ body: ByteBuffer, as contentType: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body))
    }
}
