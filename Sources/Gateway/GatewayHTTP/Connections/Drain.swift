import Logging
public import ServiceLifecycle
import Synchronization

/// The first step of a shutdown: `/readyz` answers 503 and everything else continues, so load balancers can notice.
public final class Drain: Service {
    private let delay: Duration
    private let begun = Atomic<Bool>(false)

    /// - Parameter delay: the time between the first 503 and the end of the listeners.
    public init(delay: Duration) {
        self.delay = delay
    }

    public var hasBegun: Bool { begun.load(ordering: .acquiring) }

    public func run() async throws {
        try await gracefulShutdown()
        begun.store(true, ordering: .releasing)
        Logger(label: "privyseal.services").info("Stopping", metadata: ["drainDelay": "\(delay)"])
        try await Task.sleep(for: delay)
    }
}
