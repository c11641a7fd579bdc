public import AuditKit
import Logging
import Metrics
public import SigningKit
import Synchronization
import TransparencyLog

/// Adds the witnesses' signatures to checkpoints, and decides whether enough of them have cosigned recently.
public final class WitnessQuorum: Sendable {
    private struct State {
        var status: WitnessStatus
        var last: ContinuousClock.Instant?
        /// The last refusal of each witness; nil after a cosignature.
        var refusals: [WitnessRefusal.Kind?]
        /// The last line about each witness: the kind of its refusal, nil for its end, and the time.
        var logged: [(kind: WitnessRefusal.Kind?, time: ContinuousClock.Instant)?]
    }

    private let witnesses: any CheckpointWitnesses
    private let failure: WitnessFailure
    /// How old the last checkpoint with a quorum may be.
    private let limit: Duration
    /// For metric labels: `gateway`, or `fleet` for the log of a fleet.
    private let log: String
    private let state: Mutex<State>
    private let now: @Sendable () -> Timestamp
    private let logger = Logger(label: "privyseal.audit")

    /// - Parameter interval: the time between two checkpoints. The quorum of one lasts for two of them.
    public init(
        _ witnesses: any CheckpointWitnesses, failure: WitnessFailure, interval: Duration, log: String = "gateway",
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.witnesses = witnesses
        self.failure = failure
        self.log = log
        self.now = now
        limit = interval * 2
        let names = witnesses.policy.witnesses.map(\.verifier.name)
        let status = WitnessStatus(witnesses: names.map { .init(name: $0) })
        state = Mutex(
            State(status: status, refusals: names.map { _ in nil }, logged: names.map { _ in nil }))
        // Export 0, so that alerts see that no witness has cosigned yet.
        quorumTime.record(0)
        for name in names { contradiction(of: name).record(0) }
    }

    private var quorumTime: Gauge {
        Gauge(label: "privyseal_audit_quorum_timestamp_seconds", dimensions: [("log", log)])
    }

    private func contradiction(of name: String) -> Gauge {
        Gauge(label: "privyseal_audit_witness_contradiction", dimensions: [("log", log), ("witness", name)])
    }

    var status: WitnessStatus { state.withLock { $0.status } }

    /// Whether the next try cannot wait for the next checkpoint.
    var isUrgent: Bool { failure == .require && isMissing }

    private var isMissing: Bool { state.withLock { $0.status.quorumComplaint != nil || $0.last == nil } }

    /// Why nothing may be signed; nil if enough witnesses have cosigned recently, or need not.
    var error: AuditError? {
        guard failure == .require else { return nil }
        return state.withLock { state in
            if let last = state.last, ContinuousClock.now - last <= limit { return nil }
            let complaints = state.status.witnesses.compactMap { witness in
                witness.complaint.map { "\(witness.name): \($0)" }
            }
            let reason = complaints.isEmpty ? "No witness has answered yet." : complaints.joined(separator: " ")
            return .halted(
                "Too few witnesses have cosigned the log in the last \(limit.components.seconds) s. \(reason)")
        }
    }

    /// Asks the witnesses, and adds the signatures of those that cosign.
    ///
    /// - Parameter size: the number of entries of the checkpoint.
    /// - Returns: whether the quorum is reached.
    func cosign(_ note: inout SignedNote, size: Int, timeout: Duration) async -> Bool {
        let begun = ContinuousClock.now
        let answers = await witnesses.ask(note, timeout: timeout)
        // The answers of a round that was cut off say nothing about the witnesses.
        if Task.isCancelled { return false }
        let time = now()
        var signers: [NoteVerifier] = []
        for (witness, answer) in zip(witnesses.policy.witnesses, answers) {
            guard case .success(let signature) = answer, let signed = try? note.adding(signature) else { continue }
            note = signed
            signers.append(witness.verifier)
        }
        let isMet = witnesses.policy.isMet(by: signers)
        let wasMet = state.withLock { state in
            defer {
                state.status.note(answers, at: time)
                state.status.quorumComplaint = isMet ? nil : "Too few witnesses cosigned the last checkpoint."
                if isMet { (state.last, state.status.quorumTime, state.status.quorumSize) = (begun, time, size) }
            }
            return state.status.quorumComplaint == nil
        }
        if isMet { quorumTime.record(Double(time.milliseconds) / 1000) }
        for (index, answer) in answers.enumerated() { report(answer, of: index, size: size) }
        report(isMet: isMet, wasMet: wasMet, size: size)
        return isMet
    }

    /// Logs the answer of a witness if it differs in kind from the one that was logged last. An outage of an hour must not fill the log,
    /// and a witness that gives another reason each time must not either.
    private func report(_ answer: WitnessAnswer, of index: Int, size: Int) {
        let name = witnesses.policy.witnesses[index].verifier.name
        guard case .failure(let refusal) = answer else {
            contradiction(of: name).record(0)
            let wasRefused = state.withLock { state in
                state.refusals[index] = nil
                guard state.logged[index]?.kind != nil else { return false }
                state.logged[index]?.kind = nil
                return true
            }
            if wasRefused { logger.notice("The witness \(name) cosigns again", metadata: metadata(size)) }
            return
        }
        let (isContradiction, mayLog) = state.withLock { state in
            let before = state.refusals[index]
            state.refusals[index] = refusal.kind
            let mayLog = state.logged[index].map { $0.kind != refusal.kind && .now - $0.time > Self.logPause } ?? true
            if mayLog { state.logged[index] = (refusal.kind, .now) }
            // Another process may have published once; twice in a row, the log itself is behind.
            return (refusal.kind == .contradiction || refusal.kind == .ahead && before == .ahead, mayLog)
        }
        contradiction(of: name).record(isContradiction ? 1 : 0)
        guard mayLog else { return }
        logger.log(
            level: refusal.kind == .failure ? .error : .critical, "The witness \(name) did not cosign: \(refusal)",
            metadata: metadata(size))
    }

    /// Between two lines about the refusals of one witness.
    private static let logPause = Duration.seconds(10)

    private func report(isMet: Bool, wasMet: Bool, size: Int) {
        guard isMet != wasMet else { return }
        if isMet { return logger.notice("Enough witnesses cosign again", metadata: metadata(size)) }
        let consequence =
            failure == .require
            ? "Nothing is signed once the last quorum is older than \(limit.components.seconds) s."
            : "The gateway goes on signing."
        logger.error("Too few witnesses cosigned a checkpoint. \(consequence)", metadata: metadata(size))
    }

    private func metadata(_ size: Int) -> Logger.Metadata { ["log": "\(log)", "size": "\(size)"] }
}

/// The last answers of the witnesses.
public struct WitnessStatus: Hashable, Sendable {
    public var witnesses: [CheckpointReceiver]
    /// When enough witnesses last cosigned; nil if they never did.
    public var quorumTime: Timestamp?
    /// The number of entries that they cosigned then.
    public var quorumSize: Int?
    /// Nil if enough witnesses cosigned the last checkpoint, or if there was none yet.
    public var quorumComplaint: String?

    init(witnesses: [CheckpointReceiver]) {
        self.witnesses = witnesses
    }

    fileprivate mutating func note(_ answers: [WitnessAnswer], at time: Timestamp) {
        for (index, answer) in zip(witnesses.indices, answers) {
            switch answer {
            case .success: (witnesses[index].lastSuccess, witnesses[index].complaint) = (time, nil)
            case .failure(let refusal): witnesses[index].complaint = refusal.description
            }
        }
    }
}
