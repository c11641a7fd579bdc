import AuditKit
import Logging
import Metrics
public import SigningKit
import Synchronization
public import TransparencyLog

/// A place outside the log where its checkpoints go, so that whoever rules the machine cannot rewrite history unseen.
public protocol CheckpointDestination: Sendable {
    /// For people and for the labels of metrics, such as `file`.
    var name: String { get }

    /// - Parameter note: a signed note, whole.
    func send(_ note: String) async throws
}

/// A second key that signs checkpoints, such as one on a token.
public protocol CheckpointCosigner: Sendable {
    /// - Parameter text: of the note.
    /// - Returns: the line of the signature (C2SP signed-note).
    func signature(for text: String) async throws -> NoteSignature
}

/// How the last checkpoint fared.
public struct PublicationStatus: Hashable, Sendable {
    public struct Destination: Hashable, Sendable {
        public let name: String
        /// When it last took a checkpoint; nil when it never did.
        public var lastSuccess: Timestamp?
        /// Why it did not take the last one.
        public var complaint: String?
    }

    /// Entries that the last checkpoint covers; nil when there was none.
    public var size: Int?
    public var destinations: [Destination]
}

/// Sends checkpoints out. A place that does not take one gets the next; nothing that is signed waits for it.
public final class CheckpointPublisher: Sendable {
    private let destinations: [any CheckpointDestination]
    private let cosigner: (any CheckpointCosigner)?
    private let state: Mutex<PublicationStatus>
    /// By place, while it is taking one.
    private let sending = Mutex<[Int: Task<Void, Never>]>([:])
    private let now: @Sendable () -> Timestamp
    private let logger = Logger(label: "privyseal.audit")

    public init(
        _ destinations: [any CheckpointDestination], cosigner: (any CheckpointCosigner)? = nil,
        now: @escaping @Sendable () -> Timestamp = GrantIssuer.systemTime
    ) {
        self.destinations = destinations
        self.cosigner = cosigner
        self.now = now
        state = Mutex(
            PublicationStatus(size: nil, destinations: destinations.map { .init(name: $0.name) }))
        // So that the first failure is a change.
        if cosigner != nil { Self.cosignFailures.increment(by: 0) }
        // A place that never takes one is seen, too.
        for destination in destinations { Self.lastSuccess(of: destination).record(0) }
    }

    private static var cosignFailures: Counter { Counter(label: "privyseal_audit_cosign_failures_total") }

    private static func lastSuccess(of destination: any CheckpointDestination) -> Gauge {
        Gauge(
            label: "privyseal_audit_checkpoint_timestamp_seconds", dimensions: [("destination", destination.name)])
    }

    var status: PublicationStatus { state.withLock { $0 } }

    /// With the second signature where there is a second key; without it when that does not sign now, because a checkpoint
    /// under one key is better than none.
    func cosign(_ head: AuditHead) async -> AuditHead {
        guard let cosigner else { return head }
        do {
            let note = try SignedNote(parsing: head.note)
            let signed = try note.adding(try await cosigner.signature(for: note.text))
            return AuditHead(size: head.size, note: signed.description)
        } catch {
            Self.cosignFailures.increment()
            logger.error("The checkpoint over \(head.size) entries has no second signature: \(error)")
            return head
        }
    }

    /// Returns when every place has taken it, or after a while: one that hangs keeps nobody else waiting, and gets the next
    /// checkpoint when it is done with this one.
    ///
    /// - Parameters:
    ///   - isLast: whether none comes after it: then it waits for a place to be done with the one before.
    ///   - patience: how long that is.
    func publish(_ checkpoint: AuditHead, isLast: Bool = false, patience: Duration = patience) async {
        state.withLock { $0.size = checkpoint.size }
        let arrivals = Countdown(destinations.count)
        for index in destinations.indices {
            let before = sending.withLock { $0[index] }
            guard before == nil || isLast else {
                complain("It still has not taken the checkpoint before.", of: index, checkpoint)
                arrivals.arrive()
                continue
            }
            // Not a child task: what blocks in a file system cannot be cancelled, and must not be waited for.
            sending.withLock { sending in
                sending[index] = Task {
                    await before?.value
                    await self.send(checkpoint, to: index)
                    self.sending.withLock { $0[index] = nil }
                    arrivals.arrive()
                }
            }
        }
        if !destinations.isEmpty { await arrivals.wait(atMost: patience) }
    }

    static let patience = Duration.seconds(15)

    private func send(_ checkpoint: AuditHead, to index: Int) async {
        let destination = destinations[index]
        do {
            try await destination.send(checkpoint.note)
            let time = now()
            let complaint = state.withLock { state in
                defer { state.destinations[index].complaint = nil }
                state.destinations[index].lastSuccess = time
                return state.destinations[index].complaint
            }
            Self.lastSuccess(of: destination).record(Double(time.milliseconds) / 1000)
            guard complaint != nil else { return }
            logger.notice("Checkpoints go out to \(destination.name) again", metadata: ["size": "\(checkpoint.size)"])
        } catch {
            complain("\(error)", of: index, checkpoint)
        }
    }

    private func complain(_ reason: String, of index: Int, _ checkpoint: AuditHead) {
        state.withLock { $0.destinations[index].complaint = reason }
        logger.error(
            "A checkpoint did not go out to \(destinations[index].name): \(reason)",
            metadata: ["size": "\(checkpoint.size)"])
    }
}
