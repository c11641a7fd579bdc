import Crypto
import Foundation
import GatewayConfiguration
import HTTPTypes
import LegacyPromotionalOffer
import PromotionalOffer
import Signing
import SigningKit
import SigningKitTesting
import Testing

@testable import GatewayHTTP

@Suite("The HTTP service", .timeLimit(.minutes(1)))
struct ServiceTests {
    private let place = FakeBackendLocation(UUID().uuidString)
    private let gateway: SnapshotHolder
    private let monitor: KeyRingMonitor

    init() async throws {
        let key = KeySettings(keyID: "KEY", uri: try KeyURI(place.add("key")))
        let features = [ServedFeature(LegacyPromotionalOffer()), ServedFeature(PromotionalOffer())]
        let app = AppSettings(bundleID: "com.example.app", features: features.map(\.descriptor.id))
        let settings = GatewaySettings(
            accounts: [AccountSettings(issuerID: "issuer", apps: [app], keys: [key], activeKeyID: "KEY")],
            allowsAnonymous: true)
        gateway = SnapshotHolder(
            ConfigurationSnapshot(
                settings, features: features, backends: [FakeKeyBackend.self],
                secrets: FileSecretSource(credentialsDirectory: nil)))
        monitor = KeyRingMonitor(gateway)
        await gateway.current.ring.openMissing()
        await gateway.current.ring.prove()
    }

    @Test(
        "Each failure of a key has its own HTTP answer",
        arguments: [
            (KeyError.busy, 503, "busy", String?("1")), (.unavailable("token lost"), 503, "key-unavailable", "2"),
            (.loginRefused("PIN refused"), 503, "key-unavailable", "60"), (.failed("no"), 500, "signing-failed", nil),
        ])
    func keyFaults(_ fault: KeyError, _ status: Int, _ kind: String, _ retryAfter: String?) async throws {
        try await post(#"{"productId":"p","offerIdentifier":"o"}"#, after: { place.failNext(fault) }) { answer in
            #expect(answer.status.code == status)
            #expect(answer.headers[.retryAfter] == retryAfter)
            #expect(answer.body.contains("urn:privyseal:problem:\(kind)"))
            #expect(!answer.body.contains("token lost"), "what is wrong with a token is for the operator only")
        }
    }

    @Test("A signature that fails verification gives status 500")
    func badSignature() async throws {
        try await post(#"{"productId":"p","offerIdentifier":"o"}"#, after: { place.corruptNext() }) { answer in
            #expect(answer.status == .internalServerError)
            #expect(!answer.body.contains("jws"))
        }
    }

    @Test("The service reads a body of exactly 64 KiB and refuses one byte more")
    func bodyLimit() async throws {
        for (count, status) in [(65_536, HTTPResponse.Status.unprocessableContent), (65_537, .contentTooLarge)] {
            let padding = String(repeating: " ", count: count - 2)
            try await post("{" + padding + "}") { #expect($0.status == status) }
            #expect(registry.bodyBytes == 0, "the bytes in flight are released")
        }
    }

    @Test("Readiness follows the state of the keys")
    func readiness() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await monitor.run() }
            #expect(try await execute("/readyz").status == .ok)
            place.outage = .unavailable("gone")
            var status = HTTPResponse.Status.ok
            while status == .ok { status = try await execute("/readyz").status }
            #expect(status == .serviceUnavailable)
            place.outage = nil
            while status != .ok { status = try await execute("/readyz").status }
            group.cancelAll()
        }
    }

    @Test("Every path answers its methods, and 405 with Allow to the others")
    func methods() async throws {
        for method in [HTTPRequest.Method.put, .delete, .patch, .options, .trace, HTTPRequest.Method("FOO")]
            .compactMap({ $0 })
        {
            for (path, allow) in [
                ("/v1/apps/com.example.app/promotional-offer", "POST"),
                ("/v1/apps/com.example.app/promotional-offer/batch", "POST"), ("/", "GET"),
                ("/livez", "GET, HEAD"), ("/openapi.yaml", "GET, HEAD"), ("/openapi.json", "GET, HEAD"),
                ("/readyz", "GET, HEAD"), ("/.well-known/jwks.json", "GET, HEAD"),
            ] {
                let answer = try await execute(path, method)
                #expect(answer.status == .methodNotAllowed)
                #expect(answer.headers[.allow] == allow)
            }
        }
    }

    @Test(
        "A path matches a route only with all its segments, and none of them empty",
        arguments: [
            "//", "/livez/", "//livez", "/v1", "/v1/apps//promotional-offer", "/v1/apps/com.example.app/",
            "/v1/apps/com.example.app/promotional-offer/batch/", "/v1/apps/a/b/c", "/LIVEZ", "livez", "*", "",
        ])
    func unknownPaths(_ path: String) async throws {
        let answer = try await execute(path, path.isEmpty ? .put : .get)
        #expect(answer.status == (path.isEmpty ? .methodNotAllowed : .notFound))
        #expect(answer.headers[.date]?.wholeMatch(of: /..., \d\d ... 20\d\d \d\d:\d\d:\d\d GMT/) != nil)
    }

    @Test("HEAD answers like GET, without the body", arguments: ["/livez", "/openapi.yaml", "/nothing"])
    func head(_ path: String) async throws {
        let full = try await execute(path)
        let head = try await execute(path, .head)
        #expect(head.status == full.status)
        #expect(head.body.isEmpty)
        #expect(head.headers[.contentLength] == String(full.body.utf8.count))
    }

    @Test("Names in a path may be percent-encoded")
    func encodedPath() async throws {
        let answer = try await execute(
            "/v1/apps/com%2Eexample%2eapp/promotional%2Doffer", .post,
            body: #"{"productId":"p","offerIdentifier":"o"}"#)
        #expect(answer.status == .ok)
        #expect(try await execute("/v1/apps/com%zz/promotional-offer", .post, body: "{}").status == .notFound)
    }

    @Test(
        "The service refuses a query that two parsers could read differently",
        arguments: ["keyIdentifier=KEY&keyIdentifier=KEY", "keyIdentifier=%zz", "keyIdentifier=%ff", "nonce=1"])
    func query(_ query: String) async throws {
        let answer = try await execute(
            "/?appBundleID=com.example.app&productIdentifier=p&offerIdentifier=o&applicationUsername=&\(query)")
        #expect(answer.status == .badRequest)
        #expect(answer.body.contains("invalid-parameter"))
    }

    private struct Answer {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        let body: String
    }

    private let registry = ConnectionRegistry(GatewayConfiguration.Limits())

    private func execute(
        _ path: String, _ method: HTTPRequest.Method = .get, body: String? = nil
    ) async throws -> Answer {
        let routes = GatewayRouter(
            gateway: gateway, monitor: monitor, drain: Drain(delay: .zero),
            registry: registry
        ).public
        let head = HTTPRequest(
            method: method, scheme: nil, authority: nil, path: path,
            headerFields: body == nil ? [:] : [.contentType: "application/json"])
        let (answer, bytes) = try await routes.answer(to: head, body: Array((body ?? "").utf8))
        return Answer(
            status: answer.status, headers: answer.headerFields, body: String(decoding: bytes, as: UTF8.self))
    }

    private func post(
        _ body: String, after prepare: () -> Void = {}, _ check: (Answer) throws -> Void
    ) async throws {
        prepare()
        try check(try await execute("/v1/apps/com.example.app/promotional-offer", .post, body: body))
    }
}
