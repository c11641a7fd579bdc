import ArgumentParser
import GatewayConfiguration
import GatewayHTTP
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Signing
import UnixSignals

/// The real server with one more route as the limit for HTTP: it reads the same body and answers a fixed text.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves a key as privyseal does, and also POST /bench/empty/{length}.")

    @OptionGroup var key: KeyOptions

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
            let length = Int(try scope.parameter("length")) ?? 0
            let answer = ByteBuffer(repeating: UInt8(ascii: "x"), count: length)
            return Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: answer))
        }
        let settings = ListenerSettings(.public, address: .tcp(host: "127.0.0.1", port: port))
        try await ServiceGroup(
            services: [gateway.live, monitor, try Listener(settings, router: router, routes: routes), drain],
            gracefulShutdownSignals: [.sigterm], logger: Logger(label: "bench")
        ).run()
    }
}
