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

    /// The history is in a file, so another thread answers.
    func answer(_ question: Numbered<SignerQuestion>, over connection: SignerConnection?) {
        guard let connection else { return }
        SignerLauncher.shared.enqueue { [logins] in
            connection.reply(Numbered(question.id, SignerReply(to: question.message, from: logins)))
        }
    }
}

extension SignerReply {
    init(to question: SignerQuestion, from logins: (any LoginHistory)?) {
        do throws(KeyError) {
            switch question {
            case .loginRecord(let attempt): self = .loginRecord(try logins?.record(of: attempt))
            case .noteLogin(let state, let attempt):
                try logins?.note(state, of: attempt)
                self = .done
            }
        } catch {
            self = .failed(error)
        }
    }
}
