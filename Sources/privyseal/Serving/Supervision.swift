import GatewayHTTP
import ServiceLifecycle
import ServiceManager
import SigningGateway
import Synchronization

/// What the service manager is told: ready, once every listener listens and every key has been tried; reloading;
/// stopping; and that the gateway is well.
final class Supervision: Sendable {
    private let socket = NotifySocket()
    private let awaited: Atomic<Int>

    init(listeners: Int) {
        awaited = Atomic(listeners + 1)
    }

    func noteListening() { noteOne() }
    func noteOpened() { noteOne() }

    func reloading() { socket?.send(.reloading) }
    func ready() { socket?.send(.ready) }

    private func noteOne() {
        if awaited.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ready() }
    }

    func watchdog(_ monitor: KeyRingMonitor) -> any Service {
        WatchdogService(socket: socket, monitor: monitor)
    }

    /// Tied to something real: the monitor looks at every key, and answers. A key that is down is no reason to start
    /// anew, which would not bring it back; a gateway that cannot even say so is.
    private struct WatchdogService: Service {
        let socket: NotifySocket?
        let monitor: KeyRingMonitor

        func run() async throws {
            await cancelWhenGracefulShutdown {
                guard let watchdog = Watchdog() else {
                    try? await gracefulShutdown()
                    return
                }
                await watchdog.run(while: {
                    _ = await monitor.report()
                    return true
                })
            }
            socket?.send(.stopping)
        }
    }
}
