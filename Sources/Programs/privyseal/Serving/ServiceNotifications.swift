import NIOCore
import NIOPosix
import ServiceLifecycle
import ServiceManager
import Synchronization

/// Notifies the service manager: ready (every listener listens and every key was tried), reloading, stopping, alive.
final class ServiceNotifications: Service {
    private let socket = NotifySocket()
    private let awaited: Atomic<Int>

    init(listeners: Int) {
        awaited = Atomic(listeners + 1)
    }

    /// A listener listens, or every key was tried.
    func noteOne() {
        if awaited.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ready() }
    }

    func reloading() { socket?.send(.reloading) }
    func ready() { socket?.send(.ready) }

    /// Reports to the watchdog that the gateway is alive, which means that every event loop answers. A restart would
    /// help neither a failing key nor a token that hangs.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            guard let watchdog = Watchdog() else {
                try? await gracefulShutdown()
                return
            }
            await watchdog.run(while: {
                for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                    do { try await loop.submit {}.get() } catch { return false }
                }
                return true
            })
        }
        socket?.send(.stopping)
    }
}
