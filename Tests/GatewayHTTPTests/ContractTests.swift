import Foundation
import GatewayConfiguration
import HTTPTypes
import SigningGateway
import SigningKitTesting
import Testing

@testable import GatewayHTTP

@Suite("The OpenAPI document and the problem pages")
struct ContractTests {
    private static let features = [
        "legacy-promotional-offer", "promotional-offer", "introductory-offer-eligibility", "advanced-commerce-api",
    ]

    @Test("The OpenAPI document has exactly the routes of the public listener")
    func routes() throws {
        let settings = GatewaySettings(accounts: [])
        let gateway = SnapshotHolder(
            ConfigurationSnapshot(
                settings, features: [], backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil)))
        let router = GatewayRouter(
            gateway: gateway, monitor: KeyRingMonitor(gateway), drain: Drain(delay: .zero),
            registry: ConnectionRegistry(GatewayConfiguration.Limits()))
        let served = router.table.routes.flatMap { route in
            route.path.contains("{feature}")
                ? Self.features.map { "\(route.method) " + route.path.replacing("{feature}", with: $0) }
                : ["\(route.method) \(route.path)"]
        }
        #expect(Set(served) == Set(try Self.documented()))
    }

    @Test(
        "Every kind of problem has a page with its type, title and status",
        arguments: ProblemKind.allCases)
    func page(_ kind: ProblemKind) throws {
        let text = try String(contentsOf: Self.pages.appending(path: "\(kind.rawValue).md"), encoding: .utf8)
        #expect(text.contains("\"type\": \"\(kind.type)\""))
        #expect(text.contains("\"title\": \"\(kind.title)\""))
        #expect(text.contains("\"status\": \(kind.status.code)"))
    }

    @Test("Every problem page is about an existing kind of problem")
    func pages() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path)
        let pages = names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.map { String($0.dropLast(3)) }
        #expect(Set(pages).isSubset(of: ProblemKind.allCases.map(\.rawValue)))
    }

    private static let pages = root.appending(path: "docs/problems")
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func documented() throws -> [String] {
        let document = try JSONSerialization.jsonObject(with: Data(PackageResources.openapi_json))
        let paths = try #require((document as? [String: Any])?["paths"] as? [String: [String: Any]])
        let methods = ["get", "head", "post", "put", "delete", "patch", "options", "trace"]
        return paths.flatMap { path, operations in
            operations.keys.filter { methods.contains($0) }.map { "\($0.uppercased()) \(path)" }
        }
    }
}
