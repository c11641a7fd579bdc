import Glibc
import SignerProtocol
import SigningKit
import Synchronization

/// Writes finished signatures. Those that come while a thread writes, or while the reading thread submits a batch, leave
/// together in the next call of write(2).
final class SignatureWriter: Sendable {
    private struct State {
        var signatures: [UInt8] = []
        var refusals: [Numbered<KeyError>] = []
        /// Signatures that keys have made for the gateway.
        var made = 0
        /// Frames that must follow the signatures that were made before.
        var others: [UInt8] = []
        /// Whether the reading thread submits a batch, and writes at its end.
        var isSubmitting = false
        /// Whether a thread writes. It continues with results that came meanwhile.
        var isWriting = false

        /// A frame has a largest length (`SignerFrame.maximumLength`), and a refusal has one sentence.
        private static let refusalsOfFrame = 500

        mutating func take() -> [UInt8]? {
            guard !signatures.isEmpty || !refusals.isEmpty || !others.isEmpty else { return nil }
            var bytes = signatures.isEmpty ? [] : SignerFrame(.signatures, signatures).bytes
            for start in Swift.stride(from: 0, to: refusals.count, by: Self.refusalsOfFrame) {
                let some = Array(refusals[start..<min(start + Self.refusalsOfFrame, refusals.count)])
                bytes += SignerFrame.encoding(some, as: .refusals).bytes
            }
            bytes += others
            signatures.removeAll(keepingCapacity: true)
            refusals.removeAll()
            others.removeAll()
            return bytes
        }
    }

    private let socket: SignerSocket
    private let state = Mutex(State())

    /// The most that waits for the end of a batch, in bytes of records: eight signatures.
    private static let stride = 8 * 72

    init(_ socket: SignerSocket) {
        self.socket = socket
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

    /// Runs `body`, which submits a batch of digests, and writes the results that it has at its end.
    func submitting(_ body: () -> Void) {
        state.withLock { $0.isSubmitting = true }
        body()
        state.withLock { $0.isSubmitting = false }
        write()
    }

    func finish(_ id: UInt64, _ result: Result<P256Signature, KeyError>) {
        let mustWrite = state.withLock { state in
            switch result {
            case .success(let signature):
                state.made += 1
                SignatureRecord.append(id, signature, to: &state.signatures)
            case .failure(let error): state.refusals.append(Numbered(id, error))
            }
            return !state.isWriting && (!state.isSubmitting || state.signatures.count >= Self.stride)
        }
        if mustWrite { write() }
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
