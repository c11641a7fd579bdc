import HummingbirdCore
import NIOCore
import NIOPosix
import SigningKit
import Synchronization

/// `GET /openapi.yaml` and `GET /openapi.json`: the OpenAPI document of the public listener.
final class ContractRoutes: Sendable {
    private let features: [FeatureDescriptor]
    /// Made by the first request.
    private let made = Mutex<(yaml: ByteBuffer, json: ByteBuffer)?>(nil)

    init(features: [FeatureDescriptor]) {
        self.features = features
    }

    func add(to routes: inout Routes) {
        routes.resource("/openapi.yaml") { _, _ in Response(try await self.bodies().yaml, as: "application/yaml") }
        routes.resource("/openapi.json") { _, _ in Response(try await self.bodies().json, as: "application/json") }
    }

    /// Making them takes too long for an event loop.
    private func bodies() async throws -> (yaml: ByteBuffer, json: ByteBuffer) {
        try await NIOThreadPool.singleton.runIfActive { [self] in
            try made.withLock { made in
                if let made { return made }
                let document = OpenAPIDocument(features: features)
                let bodies = (yaml: ByteBuffer(string: document.yaml), json: ByteBuffer(bytes: try document.json()))
                made = bodies
                return bodies
            }
        }
    }
}
