import AdvancedCommerce
import Foundation
import GatewayConfiguration
import HTTPTypes
import IntroductoryOfferEligibility
import LegacyPromotionalOffer
import PromotionalOffer
import Signing
import SigningKit
import SigningKitTesting
import Testing

@testable import GatewayHTTP

@Suite("The OpenAPI document and the problem pages")
struct ContractTests {
    private static let features = [
        ServedFeature(LegacyPromotionalOffer()), ServedFeature(PromotionalOffer()),
        ServedFeature(IntroductoryOfferEligibility()), ServedFeature(AdvancedCommerce()),
    ]

    /// A feature that no part of the gateway knows.
    private static let invented = FeatureDescriptor(
        id: "invented", name: "Invented", summary: "An \"invented\" feature", description: "Two\nlines: #1",
        fields: [
            FeatureField("code", .identifier, "A code.", example: #""A1""#),
            FeatureField("count", .integer, isRequired: false, "A number.", example: "7"),
        ],
        answer: [FeatureField("value", .base64, "A value.", example: #""AAAA""#)])

    @Test("The OpenAPI document has exactly the routes of the public listener")
    func routes() throws {
        let settings = GatewaySettings(accounts: [])
        let gateway = SnapshotHolder(
            ConfigurationSnapshot(
                settings, features: Self.features, backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil)))
        let router = GatewayRouter(
            gateway: gateway, monitor: KeyRingMonitor(gateway), drain: Drain(delay: .zero),
            registry: ConnectionRegistry(GatewayConfiguration.Limits()))
        let served = router.public.routes.flatMap { route in
            route.path.contains("{feature}")
                ? Self.features.map { "\(route.method) " + route.path.replacing("{feature}", with: $0.descriptor.id) }
                : ["\(route.method) \(route.path)"]
        }
        let paths = try Self.document(Self.features.map(\.descriptor)).object("paths")
        let methods = ["get", "head", "post", "put", "delete", "patch", "options", "trace"]
        let documented = try paths.keys.flatMap { path in
            try paths.object(path).keys.filter { methods.contains($0) }.map { "\($0.uppercased()) \(path)" }
        }
        #expect(Set(served) == Set(documented))
    }

    @Test("The OpenAPI document describes a new feature from its descriptor alone")
    func inventedFeature() throws {
        let document = try Self.document([PromotionalOffer.descriptor, Self.invented])
        let operation = try document.object("paths").object("/v1/apps/{bundleId}/invented").object("post")
        #expect(operation["operationId"] as? String == "signInvented")
        #expect(operation["summary"] as? String == Self.invented.summary)
        #expect(operation["description"] as? String == Self.invented.description)
        let examples = try operation.object("requestBody").object("content").object("application/json")
            .object("examples")
        #expect(try examples.object("typical").object("value") as NSDictionary == ["code": "A1", "count": 7])
        #expect(try examples.object("minimal").object("value") as NSDictionary == ["code": "A1"])
        let schemas = try document.object("components").object("schemas")
        let request = try schemas.object("InventedRequest")
        #expect(request["required"] as? [String] == ["code"])
        #expect(request["additionalProperties"] as? Bool == false)
        #expect(
            try request.object("properties").object("code") as NSDictionary
                == ["description": "A code.", "$ref": "#/components/schemas/Identifier"])
        #expect(try schemas.object("InventedAnswer").object("properties").keys.sorted() == ["value"])
        #expect(schemas["InventedBatch"] != nil && schemas["InventedBatchAnswer"] != nil)
    }

    @Test("The OpenAPI document names no feature that the gateway does not have")
    func otherFeatures() {
        let document = OpenAPIDocument(features: [Self.invented]).yaml
        for feature in Self.features.map(\.descriptor) {
            // The compatibility call has the answer of the legacy feature.
            if feature.id == LegacyPromotionalOffer.descriptor.id { continue }
            #expect(!document.contains("/\(feature.id)"))
            #expect(!document.contains("schemas/\(feature.name)"))
        }
        #expect(!document.contains("$("), "a placeholder is left")
        #expect(!document.contains("# End."))
    }

    @Test(
        "Every kind of problem has a page with its type, title and status",
        arguments: ProblemKind.all)
    func page(_ kind: ProblemKind) throws {
        let text = try String(contentsOf: Self.pages.appending(path: "\(kind.name).md"), encoding: .utf8)
        #expect(text.contains("\"type\": \"\(kind.type)\""))
        #expect(text.contains("\"title\": \"\(kind.title)\""))
        #expect(text.contains("\"status\": \(kind.status.code)"))
    }

    @Test("Every problem page is about an existing kind of problem")
    func pages() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path)
        let pages = names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.map { String($0.dropLast(3)) }
        #expect(Set(pages).isSubset(of: ProblemKind.all.map(\.name)))
    }

    private static let pages = root.appending(path: "docs/problems")
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func document(_ features: [FeatureDescriptor]) throws -> [String: Any] {
        let json = try OpenAPIDocument(features: features).json()
        return try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    }
}

extension [String: Any] {
    fileprivate func object(_ name: String) throws -> [String: Any] {
        try #require(self[name] as? [String: Any], "there is no object \(name)")
    }
}
