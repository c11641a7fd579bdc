import NIOCore
import Synchronization

/// The requests of a connection that have arrived and wait for an answer (RFC 9112 §9.3.2).
///
/// A connection's task answers all of them without a pause, because their bytes are in memory already. Thousands fit into one
/// read, and meanwhile the event loop serves no other connection and no signer.
final class Pipeline: Sendable {
    private let waiting = Atomic<Int>(0)
    private let answered = Atomic<Int>(0)

    /// Answers without a pause.
    private static let limit = 16
    /// Long enough that the event loop looks at its other sockets.
    private static let pause = TimeAmount.microseconds(50)

    func noteRequest() { waiting.wrappingAdd(1, ordering: .relaxed) }

    func noteAnswer() { waiting.wrappingSubtract(1, ordering: .relaxed) }

    /// Lets others have their turn after some answers, if further requests wait. Call it after each answer.
    func pause(on loop: any EventLoop) async {
        guard waiting.load(ordering: .relaxed) > 0 else { return answered.store(0, ordering: .relaxed) }
        guard answered.wrappingAdd(1, ordering: .relaxed).newValue >= Self.limit else { return }
        answered.store(0, ordering: .relaxed)
        try? await loop.scheduleTask(in: Self.pause) {}.futureResult.get()
    }
}
