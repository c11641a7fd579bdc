import Crypto
import Logging
import NIOCore
import SignerProtocol
import SigningKit
import Synchronization

/// The processes of one signer. All backends and keys of the pool are open in each process, so that each can sign.
///
/// If a process is lost, the pool starts another one, opens everything again, and proves the keys before they sign.
final class SignerPool: Sendable {
    /// A backend of the pool. Its numbers stay the same in every process.
    struct Backend: Sendable {
        let call: OpenCall
        let repetition: OpenCall
        let timeout: Duration
        let secrets: any SecretSource
        let report: @Sendable (KeyBackendEvent) -> Void
        /// By number.
        var keys: [UInt32: Key] = [:]
    }

    struct Key: Sendable {
        let call: KeyCall
        let publicKey: P256.Signing.PublicKey
        let proofSchedule: ProofSchedule
    }

    struct State {
        var processes: [SignerProcess] = []
        var backends: [UInt32: Backend] = [:]
        var lastNumber: UInt32 = 0
        var lastKeyNumber: UInt32 = 0
        /// Backends that are being opened.
        var opening = 0
        /// Consecutive starts that failed.
        var failures = 0
        var isRestoring = false
        /// A process that is not used yet: what the pool holds is being opened in it.
        var starting: SignerProcess?
        var isClosed = false
        /// Why no process can sign now.
        var failure: KeyError?
        var losses = 0
        /// When processes were last replaced because of a wrong signature.
        var lastReplacement = ContinuousClock.now - .seconds(3600)
        /// When a process in which a key fails may be replaced, and how often that was tried with less than a minute between.
        var nextReplacement = ContinuousClock.now
        var replacements = 0
        /// A token that comes and goes all the time must not fill the audit log.
        var events = NoticeLimit(100, in: .minutes(1))
        /// Lost processes whose end is not known yet.
        var unreported: Set<Int32> = []
    }

    let settings: SignerSettings
    let logins: (any LoginHistory)?
    let state = Mutex(State())
    /// Starting, opening and replacing, one at a time: a token should not be opened in parallel.
    let changing = AsyncMutex()
    let logger = Logger(label: "privyseal.signers")

    init(_ settings: SignerSettings, logins: (any LoginHistory)?) {
        self.settings = settings
        self.logins = logins
    }

    var backendNumbers: [UInt32] { state.withLock { Array($0.backends.keys) } }

    /// Whether no backend is open or being opened.
    var isEmpty: Bool { state.withLock { $0.backends.isEmpty && $0.opening == 0 } }
    var processes: [SignerProcess] { state.withLock { $0.processes } }
    var losses: Int { state.withLock { $0.losses } }
    var failure: KeyError? { state.withLock { $0.failure } }

    // MARK: Opening

    /// The number of a backend that will be opened. `open` must follow.
    func nextNumber() -> UInt32 {
        state.withLock { state in
            state.lastNumber += 1
            state.opening += 1
            return state.lastNumber
        }
    }

    /// The number of a key that will be looked for. The gateway looks for a missing key each second, so numbers must not come
    /// back.
    func nextKeyNumber() -> UInt32 {
        state.withLock { state in
            state.lastKeyNumber &+= 1
            return state.lastKeyNumber
        }
    }

    /// Opens a backend in every process, one process after the other: a PIN that one process finds wrong is not sent by
    /// the next.
    func open(_ backend: Backend) async throws(KeyError) {
        defer { state.withLock { $0.opening -= 1 } }
        let result: Result<Void, KeyError> = await changing.pass {
            do throws(KeyError) {
                while processes.count < settings.processes { await add(try await prepared(needs: .nothing)) }
                for process in processes { try await open(backend, backend.call, in: process) }
                state.withLock { $0.backends[backend.call.number] = backend }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    func open(_ backend: Backend, _ call: OpenCall, in process: SignerProcess) async throws(KeyError) {
        do {
            // The identities tell later whether a secret was replaced.
            for source in try await process.open(call, within: backend.timeout) {
                _ = backend.secrets.identity(of: source)
            }
        } catch {
            for source in error.secrets { _ = backend.secrets.identity(of: source) }
            throw error.error
        }
    }

    func find(_ call: KeyCall) async throws(KeyError) -> FoundKeyAnswer {
        let timeout = state.withLock { $0.backends[call.backend]?.timeout } ?? .seconds(10)
        let result: Result<FoundKeyAnswer, KeyError> = await changing.pass {
            do throws(KeyError) {
                var answer: FoundKeyAnswer?
                for process in processes {
                    let found = try await process.find(call, within: timeout)
                    if let answer, answer.publicKey.rawRepresentation != found.publicKey.rawRepresentation {
                        throw .ambiguous("The processes of the signer \(settings.name) find different keys.")
                    }
                    answer = found
                }
                guard let answer else { throw unavailable() }
                let key = Key(call: call, publicKey: answer.publicKey, proofSchedule: answer.proofSchedule)
                state.withLock { $0.backends[call.backend]?.keys[call.key] = key }
                return .success(answer)
            } catch {
                for process in processes { process.forget(call.key) }
                return .failure(error)
            }
        }
        return try result.get()
    }

    func close(_ backend: UInt32, within timeout: Duration) async {
        state.withLock { $0.backends[backend] = nil }
        for process in processes { await process.close(backend: backend, within: timeout) }
    }

    /// Ends the processes. The pool is not used again.
    func end() async {
        let (processes, starting) = state.withLock { state in
            state.isClosed = true
            defer { state.processes = [] }
            return (state.processes, state.starting)
        }
        for process in processes { await process.drain(within: timeout) }
        starting?.connection.end(.closed)
        _ = await starting?.reasonOfEnd()
        // A start that had no process yet ends it by itself.
        await changing.pass {}
    }

    // MARK: Signing

    /// Signs in the process with the fewest digests in progress. If that process is lost, or a call of its module hangs,
    /// another one signs.
    ///
    /// - Parameter timeout: of one process, which ends then. The backend in it finds a call that hangs `margin` earlier.
    func sign(
        _ digest: SHA256Digest, with key: UInt32, within timeout: Duration
    ) async throws(KeyError) -> P256Signature {
        let timeOfHang = MonotonicTime.after(timeout - SignerKey.margin)
        var deadline = MonotonicTime.after(timeout)
        var lost: SignerProcess?
        var hang: KeyError?
        while true {
            guard let process = process(for: key, except: lost) else { throw hang ?? unavailable(key) }
            do {
                let signature = try await process.connection.sign(digest, with: key, deadline: deadline)
                process.endFailure(of: key)
                return signature
            } catch {
                let now = MonotonicTime.nanoseconds()
                let isInTime = now < deadline
                switch error {
                case .key(.closed) where process.isDraining && isInTime:
                    // The digest came after the order to end.
                    break
                case .key(let error):
                    replaceIfFailing(process, key, error)
                    guard case .unavailable = error else { throw error }
                    endIfHanging(process)
                    // Other errors come sooner, and another process would meet them, too.
                    guard now >= timeOfHang, lost == nil, self.process(for: key, except: process) != nil else {
                        throw error
                    }
                    (hang, deadline) = (error, MonotonicTime.after(timeout))
                case .lost(let error):
                    // Several restarts can replace one process after the other.
                    guard lost == nil || process.isDraining, isInTime else { throw error }
                }
                lost = process
            }
        }
    }

    private func process(for key: UInt32, except lost: SignerProcess?) -> SignerProcess? {
        let processes = processes
        if processes.count == 1 { return processes[0].has(key: key) && processes[0] !== lost ? processes[0] : nil }
        return processes.filter { $0 !== lost && $0.isUsable && $0.has(key: key) }
            .min { $0.connection.load < $1.connection.load }
    }

    private func unavailable(_ key: UInt32? = nil) -> KeyError {
        if let key, let error = processes.lazy.compactMap({ $0.error(of: key) }).first { return error }
        return failure ?? .unavailable("The signer \(settings.name) is being started.")
    }

    /// The key is not used any more.
    func forget(_ key: UInt32) {
        state.withLock { state in
            for backend in state.backends.keys { state.backends[backend]?.keys[key] = nil }
        }
        for process in processes { process.endFailure(of: key) }
    }
}
