import HummingbirdCore
import NIOCore
import NIOPosix
import SigningKit
import Synchronization

/// `GET /openapi.yaml` and `GET /openapi.json`: the OpenAPI document of the public listener.
final class ContractRoutes: Sendable {
    private let features: [FeatureDescriptor]
    /// Made by the first request.
    private let made = Mutex<Bodies?>(nil)

    private struct Bodies {
        let yaml: ByteBuffer
        let json: ByteBuffer
    }

    init(features: [FeatureDescriptor]) {
        self.features = features
    }

    @Sendable func yaml(_ request: Request, _ scope: RequestScope) async throws -> Response {
        Response(try await bodies().yaml, as: "application/yaml")
    }

    @Sendable func json(_ request: Request, _ scope: RequestScope) async throws -> Response {
        Response(try await bodies().json, as: "application/json")
    }

    /// Making them takes too long for an event loop.
    private func bodies() async throws -> Bodies {
        try await NIOThreadPool.singleton.runIfActive { [self] in
            try made.withLock { made in
                if let made { return made }
                let document = OpenAPIDocument(features: features)
                let bodies = Bodies(
                    yaml: ByteBuffer(string: document.yaml), json: ByteBuffer(bytes: try document.json()))
                made = bodies
                return bodies
            }
        }
    }
}
