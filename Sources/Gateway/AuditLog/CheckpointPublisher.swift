import AuditKit
import Logging
import Metrics
public import SigningKit
import Synchronization
public import TransparencyLog

/// A destination outside the log. Its checkpoints reveal if an attacker on the machine rewrites the log.
public protocol CheckpointDestination: Sendable {
    /// The name in messages and metric labels, such as `file`.
    var name: String { get }

    /// - Parameter note: a complete signed note.
    func send(_ note: String) async throws
}

/// A second key that signs checkpoints, such as one on a token.
public protocol CheckpointCosigner: Sendable {
    /// - Parameter text: the text of the note.
    /// - Returns: the signature line (C2SP signed-note).
    func signature(for text: String) async throws -> NoteSignature
}

/// A destination of checkpoints, or a witness.
public struct CheckpointReceiver: Hashable, Encodable, Sendable {
    public let name: String
    /// When it last accepted or cosigned a checkpoint; nil if it never did.
    public var lastSuccess: Timestamp?
    /// Why it did not accept or cosign the last checkpoint; nil if it did.
    public var complaint: String?
}

/// The publication of the last checkpoint.
public struct PublicationStatus: Hashable, Sendable {
    /// The number of entries that the last checkpoint covers; nil if there was none.
    public var size: Int?
    public var destinations: [CheckpointReceiver]
}

/// Sends checkpoints out. A checkpoint that fails is not sent again. No signature waits for a destination.
public final class CheckpointPublisher: Sendable {
    private let destinations: [any CheckpointDestination]
    private let cosigner: (any CheckpointCosigner)?
    let quorum: WitnessQuorum?
    private let state: Mutex<PublicationStatus>
    /// The sends in progress, by the index of the destination.
    private let sending = Mutex<[Int: Task<Void, Never>]>([:])
    private let now: @Sendable () -> Timestamp
    private let logger = Logger(label: "privyseal.audit")

    public init(
        _ destinations: [any CheckpointDestination], cosigner: (any CheckpointCosigner)? = nil,
        quorum: WitnessQuorum? = nil,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.destinations = destinations
        self.cosigner = cosigner
        self.quorum = quorum
        self.now = now
        state = Mutex(
            PublicationStatus(size: nil, destinations: destinations.map { .init(name: $0.name) }))
        // Export the counter as 0, so that alerts can see its first increment.
        if cosigner != nil { Self.cosignFailures.increment(by: 0) }
        // Export 0 for a destination that has not accepted a checkpoint yet.
        for destination in destinations { Self.lastSuccess(of: destination).record(0) }
    }

    private static var cosignFailures: Counter { Counter(label: "privyseal_audit_cosign_failures_total") }

    private static func lastSuccess(of destination: any CheckpointDestination) -> Gauge {
        Gauge(
            label: "privyseal_audit_checkpoint_timestamp_seconds", dimensions: [("destination", destination.name)])
    }

    var status: PublicationStatus { state.withLock { $0 } }

    /// The other signers of a checkpoint, besides the log itself.
    struct Cosigners: Hashable {
        var hasCosigner = false
        var hasQuorum = false

        func isMore(than other: Self) -> Bool {
            hasCosigner && !other.hasCosigner || hasQuorum && !other.hasQuorum
        }
    }

    /// Adds the signatures of the cosigner and of the witnesses. A checkpoint without them is better than none.
    ///
    /// - Parameter timeout: for the witnesses.
    func cosign(_ head: SignedTreeHead, timeout: Duration) async -> (SignedTreeHead, Cosigners) {
        var cosigners = Cosigners()
        guard cosigner != nil || quorum != nil, var note = try? SignedNote(parsing: head.note) else {
            return (head, cosigners)
        }
        if let cosigner {
            do {
                note = try note.adding(try await cosigner.signature(for: note.text))
                cosigners.hasCosigner = true
            } catch {
                Self.cosignFailures.increment()
                logger.error("The checkpoint over \(head.size) entries has no second signature: \(error)")
            }
        }
        if let quorum { cosigners.hasQuorum = await quorum.cosign(&note, size: head.size, timeout: timeout) }
        return (SignedTreeHead(size: head.size, note: note.description), cosigners)
    }

    /// Returns when all sends have ended, or after `timeout`. A destination that hangs does not delay the others. It
    /// gets no new checkpoint until its send has ended.
    ///
    /// - Parameter isLast: whether this is the last checkpoint. It is then sent even after a send that is in progress.
    func publish(_ checkpoint: SignedTreeHead, isLast: Bool = false, timeout: Duration = timeout) async {
        state.withLock { $0.size = checkpoint.size }
        var sends: [Task<Void, Never>] = []
        for index in destinations.indices {
            let before = sending.withLock { $0[index] }
            guard before == nil || isLast else {
                complain("It has not accepted the previous checkpoint yet.", of: index, checkpoint)
                continue
            }
            // Not a child task: a blocking file system call cannot be cancelled, and a task group would wait for it.
            sending.withLock { sending in
                let send = Task {
                    await before?.value
                    await self.send(checkpoint, to: index)
                    self.sending.withLock { $0[index] = nil }
                }
                sending[index] = send
                sends.append(send)
            }
        }
        let ended = AsyncSignal()
        Task { [sends] in
            for send in sends { await send.value }
            ended.signal()
        }
        await ended.wait(atMost: timeout)
    }

    static let timeout = Duration.seconds(15)

    private func send(_ checkpoint: SignedTreeHead, to index: Int) async {
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
            logger.notice("Checkpoints reach \(destination.name) again", metadata: ["size": "\(checkpoint.size)"])
        } catch {
            complain("\(error)", of: index, checkpoint)
        }
    }

    private func complain(_ reason: String, of index: Int, _ checkpoint: SignedTreeHead) {
        state.withLock { $0.destinations[index].complaint = reason }
        logger.error(
            "A checkpoint was not delivered to \(destinations[index].name): \(reason)",
            metadata: ["size": "\(checkpoint.size)"])
    }
}

/// Decides which published checkpoints the log stores. One a minute would be half a million in a year, and `audit
/// verify` verifies the signature of each. Fewer are enough to locate a change.
///
/// The log stores the first checkpoint after a start, then one an hour, one when cosignatures begin, and one when they
/// have ended, at most each ten minutes. It
/// also stores one when it has grown by about 1/64: by one entry for a small log, by one segment at most.
struct CheckpointRetention {
    private static let interval = Duration.seconds(3600)
    /// A witness that fails every other time must not fill the log.
    private static let shortInterval = Duration.seconds(600)
    private static let share = 64

    private var last: (size: Int, cosigners: CheckpointPublisher.Cosigners, time: ContinuousClock.Instant)?

    /// - Parameter size: the number of entries that the new checkpoint covers.
    mutating func keeps(
        _ size: Int, _ cosigners: CheckpointPublisher.Cosigners, at now: ContinuousClock.Instant = .now
    ) -> Bool {
        if let last, last.time.duration(to: now) < Self.interval,
            !cosigners.isMore(than: last.cosigners),
            cosigners == last.cosigners || last.time.duration(to: now) < Self.shortInterval,
            size - last.size < min(AuditSegment.size, last.size / Self.share + 1)
        {
            return false
        }
        last = (size, cosigners, now)
        return true
    }
}
