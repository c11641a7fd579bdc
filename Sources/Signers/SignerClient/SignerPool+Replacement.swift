import Logging
import SigningKit
import Synchronization

/// Replacing the processes of a pool: at a restart, after a wrong signature, and if a key fails for long.
extension SignerPool {
    /// The least time between two replacements because of wrong signatures.
    private static let replacementPause = Duration.seconds(1)
    /// A process in which a key has failed for so long is replaced.
    private static let longFailure = Duration.seconds(1)
    /// The most time between two attempts to replace a process in which a key fails.
    private static let longReplacementPause = Duration.seconds(30)

    /// The key failed in this process. If that lasts, a new process may be able to sign where this one cannot: its module may
    /// have used up the descriptors, or be in a wrong state. The old process stays if the new one cannot sign with this key,
    /// for example because the token is away, or with another one with which the old one can.
    func replaceIfFailing(_ process: SignerProcess, _ key: UInt32, _ error: KeyError) {
        guard error.showsFailure, process.noteFailure(of: key, lasting: Self.longFailure) else { return }
        let attempt = state.withLock { state -> Int? in
            // A proof of another key would cost money or a PIN.
            guard state.processes.contains(where: { $0 === process }), state.nextReplacement <= .now,
                state.backends.values.contains(where: { $0.keys[key]?.proofSchedule == .unlimited })
            else { return nil }
            if state.nextReplacement + .seconds(60) < .now { state.replacements = 0 }
            let pause = Duration.seconds(2 << min(state.replacements, 8))
            state.nextReplacement = .now + min(Self.longReplacementPause, pause)
            state.replacements += 1
            return state.replacements
        }
        guard let attempt else { return }
        Task {
            if await replaced(process, withKey: key) {
                logger.warning(
                    "The signer was replaced, because a key failed in it: \(error)",
                    metadata: ["signer": "\(settings.name)"])
                report(.signerReplaced, "A key failed in it. \(error)")
            } else if attempt == 1 {
                logger.warning(
                    "A key fails, and a new process of the signer could not sign with it either: \(error)",
                    metadata: ["signer": "\(settings.name)"])
            }
            restore()
        }
    }

    /// - Returns: false if the process stays.
    private func replaced(_ old: SignerProcess, withKey key: UInt32) async -> Bool {
        await changing.pass {
            guard processes.contains(where: { $0 === old }), let new = try? await prepared(needs: .key(key, of: old))
            else { return false }
            await add(new, insteadOf: old)
            await old.drain(within: timeout)
            return true
        }
    }

    /// Replaces each process by a new one while the others sign. The keys of the new one are proven first; the old one
    /// finishes its signatures.
    ///
    /// - Throws: if a new process could not open everything. The old one then stays.
    func restart(because reason: String) async throws(KeyError) {
        try await replaceProcesses(needs: .everything).get()
        report(.signerReplaced, reason)
    }

    /// A signature of the key did not verify, and was not released. The processes do not sign with it any more, and are
    /// replaced; the other keys sign meanwhile. The new processes use the key only if its proof is valid.
    func replace(becauseOf key: UInt32, _ error: KeyError) {
        let processes = processes
        let isFirst = processes.contains { $0.has(key: key) }
        for process in processes { process.refuse(key, error) }
        guard isFirst else { return }
        let pause = state.withLock { state in
            state.losses += 1
            defer { state.lastReplacement = max(.now, state.lastReplacement + Self.replacementPause) }
            return state.lastReplacement + Self.replacementPause - .now
        }
        noteLoss()
        report(.signerLost, error.description)
        Task {
            // A token that goes on making wrong signatures must not cost a process, and a cloud service calls, all the time.
            if pause > .zero { try? await Task.sleep(for: pause) }
            if case .failure(let error) = await replaceProcesses(needs: .anyBackend) {
                logger.error("The signer could not be replaced: \(error)", metadata: ["signer": "\(settings.name)"])
            }
            restore()
        }
    }

    private func replaceProcesses(needs: Contents) async -> Result<Void, KeyError> {
        await changing.pass {
            do throws(KeyError) {
                for old in processes {
                    await add(try await prepared(needs: needs), insteadOf: old)
                    await old.drain(within: timeout)
                }
                while processes.count < settings.processes { await add(try await prepared(needs: needs)) }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }
}

extension KeyError {
    /// Whether the error says that the process or its token does not sign.
    fileprivate var showsFailure: Bool {
        switch self {
        case .unavailable, .failed, .notFound: true
        default: false
        }
    }
}
