import NIOCore
import NIOPosix
import ServiceLifecycle
import ServiceManager
import Synchronization

/// Notifies the service manager: ready (every listener listens and every key was tried), reloading, stopping, alive.
final class ServiceNotifications: Sendable {
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

    var watchdog: any Service { WatchdogService(socket: socket) }

    /// Alive means that every event loop answers. A restart would help neither a failing key nor a token that hangs.
    private struct WatchdogService: Service {
        let socket: NotifySocket?

        func run() async throws {
            await cancelWhenGracefulShutdown {
                guard let watchdog = Watchdog() else {
                    try? await gracefulShutdown()
                    return
                }
                await watchdog.run(while: Self.everyLoopAnswers)
            }
            socket?.send(.stopping)
        }

        @Sendable private static func everyLoopAnswers() async -> Bool {
            for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
                do { try await loop.submit {}.get() } catch { return false }
            }
            return true
        }
    }
}
