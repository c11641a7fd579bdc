import Glibc
import SignerProtocol
import SigningKit
import Synchronization

/// Collects finished signatures, and writes all that wait in one call of write(2).
///
/// Each write wakes the gateway. So a signature waits for others while digests are in progress, for 0.3 ms at most.
final class SignatureWriter: Sendable {
    private struct State {
        var signatures: [UInt8] = []
        var refusals: [Numbered<KeyError>] = []
        /// Digests without a result.
        var inProgress = 0
        /// Signatures that keys have made for the gateway.
        var made = 0
        /// Frames that must follow the signatures that were made before.
        var others: [UInt8] = []
        /// Whether the reading thread submits a batch, and writes at its end.
        var isSubmitting = false
        /// Whether the collecting thread runs.
        var canCollect = false
        /// Whether the collecting thread will write.
        var isCollecting = false
        /// Whether a thread writes. It continues with results that came meanwhile.
        var isWriting = false

        mutating func take() -> [UInt8]? {
            guard !signatures.isEmpty || !refusals.isEmpty || !others.isEmpty else { return nil }
            var bytes = signatures.isEmpty ? [] : SignerFrame(.signatures, signatures).bytes
            if !refusals.isEmpty { bytes += SignerFrame.encoding(refusals, as: .refusals).bytes }
            bytes += others
            signatures.removeAll(keepingCapacity: true)
            refusals.removeAll()
            others.removeAll()
            return bytes
        }
    }

    private let socket: SignerSocket
    private let state = Mutex(State())
    private let collection = Semaphore()

    /// The most that waits for others, in bytes of records: eight signatures.
    private static let stride = 8 * 72
    private static let collectionMicroseconds: UInt32 = 300

    init(_ socket: SignerSocket) {
        self.socket = socket
    }

    /// Starts the thread that writes signatures which no other result follows in time. Without it, each is written at once.
    func start() {
        let hasThread = SystemThread.start("privyseal-write") { [self] in
            while true {
                collection.wait()
                usleep(Self.collectionMicroseconds)
                state.withLock { $0.isCollecting = false }
                write()
            }
        }
        state.withLock { $0.canCollect = hasThread }
    }

    /// Answers a call with the number of signatures. It follows them, so the gateway can compare it with those that it
    /// got.
    func sendCount(inAnswerTo id: UInt64) {
        state.withLock { state in
            let answer = Numbered(id, SignerAnswer.count(state.made))
            state.others += SignerFrame.encoding(answer, as: .answer).bytes
        }
        write()
    }

    /// Runs `body`, which submits `count` digests, and writes the results that it has at its end.
    func submitting(_ count: Int, _ body: () -> Void) {
        state.withLock { state in
            state.isSubmitting = true
            state.inProgress += count
        }
        body()
        state.withLock { $0.isSubmitting = false }
        write()
    }

    func finish(_ id: UInt64, _ result: Result<P256Signature, KeyError>) {
        let next = state.withLock { state -> (writes: Bool, collects: Bool) in
            state.inProgress -= 1
            switch result {
            case .success(let signature):
                state.made += 1
                SignatureRecord.append(id, signature, to: &state.signatures)
            case .failure(let error): state.refusals.append(Numbered(id, error))
            }
            if state.isWriting { return (false, false) }
            if state.signatures.count >= Self.stride { return (true, false) }
            if state.isSubmitting { return (false, false) }
            if state.inProgress == 0 || !state.canCollect { return (true, false) }
            defer { state.isCollecting = true }
            return (false, !state.isCollecting)
        }
        if next.writes { write() }
        if next.collects { collection.signal() }
    }

    private func write() {
        while true {
            let bytes = state.withLock { state -> [UInt8]? in
                if state.isWriting { return nil }
                let bytes = state.take()
                state.isWriting = bytes != nil
                return bytes
            }
            guard let bytes else { return }
            socket.send(bytes)
            state.withLock { $0.isWriting = false }
        }
    }
}
