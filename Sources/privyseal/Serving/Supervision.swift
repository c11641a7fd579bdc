import NIOCore
import NIOPosix
import ServiceLifecycle
import ServiceManager
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

    var watchdog: any Service { WatchdogService(socket: socket) }

    /// Tied to something real: every thread that answers requests is asked, and has to answer. A key that is down, and a
    /// token that hangs, are no reason to start anew, which would not bring them back; a thread on which nothing goes on
    /// any more is.
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
