import ArgumentParser
import AuditLog
import Crypto
import GatewayConfiguration
import GatewayHTTP
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Signing
import SigningKit
import UnixSignals

/// The real server with further routes as the limits for HTTP. They read the same body and answer a fixed text: one at once,
/// the other after a signer has signed a digest and, with a database, the audit log has an entry.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Serves a key as privyseal does, and also POST /bench/empty/{length} and, with --signer, /bench/signed/{length}."
    )

    @OptionGroup var key: KeyOptions
    @OptionGroup var signer: SignerKeyOptions

    @Option(help: "A new audit log, in which each request to /bench/signed leaves an entry.")
    var database: String?

    @Option(help: "The port on 127.0.0.1.")
    var port: Int

    func run() async throws {
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let gateway = try await BenchGateway(key, .off)
        let monitor = KeyRingMonitor(gateway.live)
        let drain = Drain(delay: .zero)
        let registry = ConnectionRegistry(GatewayConfiguration.Limits())
        let router = GatewayRouter(gateway: gateway.live, monitor: monitor, drain: drain, registry: registry)
        var routes = router.public
        routes.post("/bench/empty/{length}") { request, scope in
            _ = try await request.body.collect(upTo: 64 << 10)
            return Self.answer(length: Int(try scope.parameter("length")) ?? 0)
        }
        let hosted = try await signer.open(key)
        let log = try database.map { try BenchLog($0).log }
        if let (_, key) = hosted {
            let digest = SHA256.hash(data: Array("benchmark".utf8))
            routes.post("/bench/signed/{length}") { request, scope in
                _ = try await request.body.collect(upTo: 64 << 10)
                _ = try await key.sign(digest)
                try await log?.record(AuditLogFill.signature(1))
                SignatureCounts.shared.settle()
                return Self.answer(length: Int(try scope.parameter("length")) ?? 0)
            }
        }
        let settings = ListenerSettings(.public, address: .tcp(host: "127.0.0.1", port: port))
        try await ServiceGroup(
            services: [gateway.live, monitor, try Listener(settings, router: router, routes: routes), drain],
            gracefulShutdownSignals: [.sigterm], logger: Logger(label: "bench")
        ).run()
        await hosted?.0.close()
        await log?.close()
    }

    private static func answer(length: Int) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(repeating: UInt8(ascii: "x"), count: length)))
    }
}
