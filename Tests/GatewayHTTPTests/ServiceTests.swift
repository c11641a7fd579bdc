import Crypto
import Foundation
import GatewayConfiguration
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import LegacyPromotionalOffer
import NIOCore
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
            #expect(text(answer).contains("urn:privyseal:problem:\(kind)"))
            #expect(!text(answer).contains("token lost"), "what is wrong with a token is for the operator only")
        }
    }

    @Test("A signature that fails verification gives status 500")
    func badSignature() async throws {
        try await post(#"{"productId":"p","offerIdentifier":"o"}"#, after: { place.corruptNext() }) { answer in
            #expect(answer.status == .internalServerError)
            #expect(!text(answer).contains("jws"))
        }
    }

    @Test("The service reads a body of exactly 64 KiB and refuses one byte more")
    func bodyLimit() async throws {
        for (count, status) in [(65_536, HTTPResponse.Status.unprocessableContent), (65_537, .contentTooLarge)] {
            let padding = String(repeating: " ", count: count - 2)
            try await post("{" + padding + "}") { #expect($0.status == status) }
        }
    }

    @Test("Readiness follows the state of the keys")
    func readiness() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await monitor.run() }
            try await application.test(.router) { client in
                try await client.execute(uri: "/readyz", method: .get) { #expect($0.status == .ok) }
                place.outage = .unavailable("gone")
                var status = HTTPResponse.Status.ok
                while status == .ok {
                    try await client.execute(uri: "/readyz", method: .get) { answer in
                        status = answer.status
                    }
                }
                #expect(status == .serviceUnavailable)
                place.outage = nil
                while status != .ok {
                    try await client.execute(uri: "/readyz", method: .get) { answer in
                        status = answer.status
                    }
                }
            }
            group.cancelAll()
        }
    }

    @Test("Every path answers its methods, and 405 with Allow to the others")
    func methods() async throws {
        try await application.test(.router) { client in
            for method in [HTTPRequest.Method.put, .delete, .patch, .options, .trace, HTTPRequest.Method("FOO")]
                .compactMap({ $0 })
            {
                for (path, allow) in [
                    ("/v1/apps/com.example.app/promotional-offer", "POST"),
                    ("/v1/apps/com.example.app/promotional-offer/batch", "POST"), ("/", "GET"),
                    ("/livez", "GET, HEAD"), ("/openapi.yaml", "GET, HEAD"), ("/openapi.json", "GET, HEAD"),
                    ("/readyz", "GET, HEAD"), ("/.well-known/jwks.json", "GET, HEAD"),
                ] {
                    try await client.execute(uri: path, method: method) { answer in
                        #expect(answer.status == .methodNotAllowed)
                        #expect(answer.headers[.allow] == allow)
                    }
                }
            }
        }
    }

    @Test("HEAD answers like GET, without the body", arguments: ["/livez", "/openapi.yaml", "/nothing"])
    func head(_ path: String) async throws {
        try await application.test(.router) { client in
            let full = try await client.execute(uri: path, method: .get)
            let head = try await client.execute(uri: path, method: .head)
            #expect(head.status == full.status)
            #expect(head.body.readableBytes == 0)
            #expect(head.headers[.contentLength] == String(full.body.readableBytes))
        }
    }

    @Test("Names in a path may be percent-encoded")
    func encodedPath() async throws {
        try await application.test(.router) { client in
            try await client.execute(
                uri: "/v1/apps/com%2Eexample%2eapp/promotional%2Doffer", method: .post,
                headers: [.contentType: "application/json"],
                body: ByteBuffer(string: #"{"productId":"p","offerIdentifier":"o"}"#)
            ) { #expect($0.status == .ok) }
        }
    }

    @Test(
        "The service refuses a query that two parsers could read differently",
        arguments: ["keyIdentifier=KEY&keyIdentifier=KEY", "keyIdentifier=%zz", "keyIdentifier=%ff", "nonce=1"])
    func query(_ query: String) async throws {
        try await application.test(.router) { client in
            try await client.execute(
                uri:
                    "/?appBundleID=com.example.app&productIdentifier=p&offerIdentifier=o&applicationUsername=&\(query)",
                method: .get
            ) { answer in
                #expect(answer.status == .badRequest)
                #expect(text(answer).contains("invalid-parameter"))
            }
        }
    }

    private var application: some ApplicationProtocol {
        Application(
            router: GatewayRouter(
                gateway: gateway, monitor: monitor, drain: Drain(delay: .zero),
                registry: ConnectionRegistry(GatewayConfiguration.Limits())
            ).public)
    }

    private func post(
        _ body: String, after prepare: () -> Void = {}, _ check: @escaping @Sendable (TestResponse) throws -> Void
    ) async throws {
        prepare()
        try await application.test(.router) { client in
            try await client.execute(
                uri: "/v1/apps/com.example.app/promotional-offer", method: .post,
                headers: [.contentType: "application/json"], body: ByteBuffer(string: body), testCallback: check)
        }
    }

    private func text(_ answer: TestResponse) -> String { String(buffer: answer.body) }
}
