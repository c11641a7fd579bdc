import Dispatch
import SignerProtocol
import SigningKit
import Synchronization

/// What processes send without a call.
extension SignerPool {
    func handle(_ notice: SignerNotice) {
        switch notice {
        case .event(let backend, let event): state.withLock { $0.backends[backend]?.report }?(event)
        case .log(let line): SignerMessages.log(line, of: settings.name)
        case .metrics(let records): SignerMetricRecords.record(records)
        case .progress: break
        }
    }
}

extension SignerConnection {
    private static let answering = DispatchQueue(label: "privyseal.logins", attributes: .concurrent)

    /// The history is in a file and in a database, so other threads answer.
    func answer(_ question: Numbered<SignerQuestion>, from logins: (any LoginHistory)?) {
        Self.answering.async { self.reply(Numbered(question.id, SignerReply(to: question.message, from: logins))) }
    }
}

extension SignerReply {
    fileprivate init(to question: SignerQuestion, from logins: (any LoginHistory)?) {
        do throws(KeyError) {
            switch question {
            case .loginRecord(let attempt): self = .loginRecord(try logins?.record(of: attempt))
            case .noteLogin(let state, let attempt):
                try logins?.note(state, of: attempt)
                self = .done
            case .beginTurn(let token): self = .refusedPINs(try logins?.beginTurn(token))
            case .endTurn(let token, let refused):
                try logins?.endTurn(token, refused: refused)
                self = .done
            }
        } catch {
            self = .failed(error)
        }
    }
}
