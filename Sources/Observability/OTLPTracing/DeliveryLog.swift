import Logging
import Synchronization

/// Logs when deliveries begin to fail, fail for another reason, or succeed again, but not each failure.
final class DeliveryLog: Sendable {
    private let logger: Logger
    private let destination: String
    private let current = Mutex<DeliveryProblem?>(nil)

    init(_ logger: Logger, destination: String) {
        self.logger = logger
        self.destination = destination
    }

    /// - Parameters:
    ///   - problem: nil for a successful delivery.
    ///   - detail: further information, which does not count as another problem.
    func note(_ problem: DeliveryProblem?, detail: String? = nil) {
        let isNews = current.withLock { current in
            defer { current = problem }
            return current != problem
        }
        guard isNews else { return }
        guard let problem else {
            return logger.notice("Traces are delivered again", metadata: ["endpoint": "\(destination)"])
        }
        logger.warning(
            "Traces cannot be delivered: the endpoint \(problem)\(detail.map { " (\($0))" } ?? "")",
            metadata: ["endpoint": "\(destination)"])
    }
}
