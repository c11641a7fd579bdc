import Logging
public import ServiceLifecycle
import Synchronization

/// The first thing to happen at shutdown: `/readyz` says no, and for a while everything else goes on, so that who sends
/// us requests can notice.
public final class Drain: Service {
    private let delay: Duration
    private let begun = Atomic<Bool>(false)

    /// - Parameter delay: between saying no and closing the doors.
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
