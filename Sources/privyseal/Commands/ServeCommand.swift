import ArgumentParser
import GatewayConfiguration
import GatewayHTTP
import Glibc
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SigningGateway
import SigningKit
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve signatures over HTTP until SIGTERM, SIGINT or SIGHUP.",
        discussion: """
            On SIGTERM, /readyz says no first; requests in flight finish, tokens are closed, and the status is 0.
            Only loopback addresses and Unix sockets can be listened on: callers are not told apart yet.
            """)

    @OptionGroup var config: ConfigurationOption

    func run() async throws {
        let configuration = try config.load()
        LogSetup.bootstrap(configuration.logging)
        // Requests then run on the event loop that read them: a hop to another thread costs as much as half a signature.
        _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
        let gateway = Gateway(configuration)
        do {
            try await serve(gateway, configuration)
        } catch {
            await gateway.ring.close()
            throw error
        }
        await gateway.ring.close()
    }

    private func serve(_ gateway: Gateway, _ configuration: GatewayConfiguration) async throws {
        // Keys are opened while it serves already: a token that takes its time must not keep /livez from answering.
        let monitor = KeyRingMonitor(gateway.ring) { try Self.refuseMisconfiguredKeys(gateway.ring) }
        let drain = Drain(delay: configuration.drainDelay)
        let server = try server(for: gateway, monitor, drain, at: configuration.listen)
        // Stopped from the last to the first: the drain, then the server, then the monitor.
        var services = ServiceGroupConfiguration(
            services: [monitor, server, drain].map { service in
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: service, successTerminationBehavior: .ignore)
            },
            gracefulShutdownSignals: [.sigterm, .sigint, .sighup], logger: Logger(label: "privyseal.services"))
        services.maximumGracefulShutdownDuration = configuration.drainDelay + configuration.shutdownGracePeriod
        do {
            try await ServiceGroup(configuration: services).run()
        } catch let status as ExitCode {
            throw status
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw StandardError.failure(
                ServerAddressError.occupied("another process listens on \(configuration.listen)").description)
        } catch {
            throw StandardError.failure("The service ended: \(error)")
        }
    }

    private func server(
        for gateway: Gateway, _ monitor: KeyRingMonitor, _ drain: Drain, at listen: GatewayConfiguration.ListenAddress
    ) throws -> any Service {
        let router = GatewayRouter.make(
            dispatcher: gateway.dispatcher, ring: gateway.ring, monitor: monitor, drain: drain)
        do {
            return try GatewayServer.make(router, at: ServerAddress(listen))
        } catch {
            throw StandardError.failure(error.description)
        }
    }

    /// What only a person can mend is said at once, instead of being served as a gateway that never gets ready. Not so a
    /// refused PIN: whoever supervises this process would start it again, and each start would try the PIN again, until
    /// the token locks itself.
    private static func refuseMisconfiguredKeys(_ ring: KeyRing) throws {
        var complaints: [String] = []
        for slot in ring.slots where slot.isActive {
            guard case .refused(let error) = slot.state else { continue }
            if case .loginRefused = error { continue }
            complaints.append("\(slot.plan.origin): \(error)")
        }
        guard complaints.isEmpty else { throw StandardError.failure(complaints.joined(separator: "\n"), status: 78) }
    }
}

extension ServerAddress {
    fileprivate init(_ address: GatewayConfiguration.ListenAddress) {
        switch address {
        case .tcp(let host, let port): self = .tcp(host: host, port: port)
        case .unixSocket(let path): self = .unixSocket(path: path)
        }
    }
}
