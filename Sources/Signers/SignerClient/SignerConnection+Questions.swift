import SignerProtocol
import SigningKit
import Synchronization

/// The questions of a signer about logins.
extension SignerConnection {
    /// - Parameter signer: whose process asks.
    func answer(_ question: Numbered<SignerQuestion>, of signer: String, from logins: (any LoginHistory)?) {
        switch question.message {
        // The history is in a file, so another thread answers.
        case .loginRecord(let attempt):
            answer(question.id) { () throws(KeyError) in
                .loginRecord(try logins?.record(of: try attempt.made(by: signer)))
            }
        case .noteLogin(let state, let attempt):
            answer(question.id) { () throws(KeyError) in
                try logins?.note(state, of: try attempt.made(by: signer))
                return .done
            }
        // A turn may wait for seconds, so no thread waits for it.
        case .beginTurn(let token, let milliseconds):
            Task { reply(Numbered(question.id, await turn(token, milliseconds, in: logins?.turns))) }
        case .endTurn(let id, let refused):
            Task {
                if let (turn, turns) = takeTurn(id) { await turns.end(turn, refused: refused) }
                reply(Numbered(question.id, .done))
            }
        }
    }

    private func answer(_ id: UInt64, _ body: @escaping @Sendable () throws(KeyError) -> SignerReply) {
        SignerLauncher.shared.enqueue {
            let answer: SignerReply
            do throws(KeyError) { answer = try body() } catch { answer = .failed(error) }
            self.reply(Numbered(id, answer))
        }
    }

    private func turn(_ token: String, _ milliseconds: Int?, in turns: (any LoginTurns)?) async -> SignerReply {
        guard let turns else { return .turn(nil) }
        do throws(KeyError) {
            let turn = try await turns.begin(token, waiting: milliseconds.map { .milliseconds($0) })
            // The process may have ended meanwhile.
            guard keep(turn, of: turns) else {
                await turns.end(turn, refused: nil)
                return .turn(nil)
            }
            return .turn(turn)
        } catch {
            return .failed(error)
        }
    }
}

extension LoginAttempt {
    /// In bytes, of each text: the parts of a token's identity have 96, and a secret's identity has five numbers.
    private static let limit = 512

    /// Throws for an attempt that no backend makes.
    fileprivate func made(by signer: String) throws(KeyError) -> LoginAttempt {
        guard token.utf8.count <= Self.limit, secret.utf8.count <= Self.limit else {
            throw .failed("The signer \(signer) asked about a login with more than \(Self.limit) bytes.")
        }
        var attempt = self
        attempt.signer = signer
        return attempt
    }
}
