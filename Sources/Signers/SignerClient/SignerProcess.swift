import Crypto
import Logging
import NIOCore
import NIOPosix
import SignerProtocol
import SigningKit
import Synchronization

/// A signer process, and what is open in it.
final class SignerProcess: Sendable {
    private struct State {
        /// Why a key cannot be used in this process; nil for a usable one. A key without an entry was never opened here.
        var keys: [UInt32: KeyError?] = [:]
        var backends: Set<UInt32> = []
        var isDraining = false
        var isChecked = false
        /// The keys whose signatures fail. A signature ends this.
        var failing: [UInt32: KeyFailure] = [:]
    }

    let connection: SignerConnection
    private let end: ProcessEnd
    let protection: SignerProtection
    let begun = ContinuousClock.now
    private let state = Mutex(State())
    /// Whether a key fails, so that a signature need not take the lock.
    private let isFailing = Atomic(false)

    /// Loading the program and applying the sandbox take a few hundredths of a second.
    private static let startTimeout = Duration.seconds(10)

    private init(_ connection: SignerConnection, _ protection: SignerProtection, _ end: ProcessEnd) {
        self.connection = connection
        self.protection = protection
        self.end = end
    }

    /// Starts a process, or connects to one that runs on its own.
    static func start(
        _ settings: SignerSettings, onEvent: @escaping @Sendable (SignerConnection.Event) -> Void
    ) async throws(KeyError) -> SignerProcess {
        let (descriptor, launched) = try await SignerLauncher.shared.run {
            () throws(KeyError) -> (Int32, LaunchedSigner?) in
            if let path = settings.socket { return (try SignerSocketPeer.connect(to: path), nil) }
            let launched = try LaunchedSigner.launch(withCloud: settings.name == "awskms")
            return (launched.socket, launched)
        }
        if let launched { SignerMessages.log(launched.standardError, of: settings.name) }
        let end = ProcessEnd()
        let handle = { @Sendable (event: SignerConnection.Event) in
            onEvent(event)
            guard case .ended(let error, let byItself) = event else { return }
            let tell = { @Sendable (reason: String) in
                end.note(reason)
                onEvent(.gone(reason))
            }
            guard let launched else { return tell(error.description) }
            SignerLauncher.shared.enqueue {
                // The kernel closes the descriptors of a process shortly before its parent can see its end: a few
                // milliseconds, or more on a busy machine.
                let how = LaunchedSigner.end(launched.pid, grace: byItself ? 100 : 10)
                guard byItself, let how else { return tell(error.description) }
                tell("The process of the signer \(settings.name) ended \(how).")
            }
        }
        let connection: SignerConnection
        do throws(KeyError) {
            connection = try await SignerConnection.make(descriptor, name: settings.name, onEvent: handle)
        } catch {
            // It ended before it was connected.
            if let launched { SignerLauncher.shared.enqueue { _ = LaunchedSigner.end(launched.pid, grace: 10) } }
            throw error
        }
        let start = SignerCall.start(SignerStart(settings))
        let answer: SignerAnswer
        do throws(KeyError) { answer = try await connection.call(start, within: startTimeout) } catch {
            throw .unavailable(await end.reason())
        }
        if case .failed(let error, _) = answer {
            connection.end(error)
            throw error
        }
        guard case .started(let protection) = answer else {
            let error = KeyError.unavailable("The signer \(settings.name) did not start as the protocol requires.")
            connection.end(error)
            throw error
        }
        return SignerProcess(connection, protection, end)
    }

    var processID: Int32 { protection.pid }

    var isUsable: Bool { connection.isOpen && !isDraining }

    /// Whether another process replaces it.
    var isDraining: Bool { state.withLock { $0.isDraining } }

    // MARK: What is open

    /// - Returns: the sources of the secrets that the backend has read.
    func open(_ call: OpenCall, within timeout: Duration) async throws(SignerOpenFailure) -> [String] {
        let answer: SignerAnswer
        do { answer = try await self.call(.open(call), within: timeout) } catch {
            throw SignerOpenFailure(error: error, secrets: [])
        }
        switch answer {
        case .opened(let secrets):
            state.withLock { _ = $0.backends.insert(call.number) }
            return secrets
        case .failed(let error, let secrets): throw SignerOpenFailure(error: error, secrets: secrets)
        default: throw SignerOpenFailure(error: unexpected(), secrets: [])
        }
    }

    func find(_ call: KeyCall, within timeout: Duration) async throws(KeyError) -> FoundKeyAnswer {
        do throws(KeyError) {
            guard case .found(let found) = try await answer(.findKey(call), within: timeout) else { throw unexpected() }
            state.withLock { $0.keys[call.key] = .some(nil) }
            return found
        } catch {
            state.withLock { $0.keys[call.key] = error }
            throw error
        }
    }

    /// The key in this process is another one, or could not be proven.
    func refuse(_ key: UInt32, _ error: KeyError) { state.withLock { $0.keys[key] = error } }

    /// The key was not found in all processes, so it is not used.
    func forget(_ key: UInt32) { state.withLock { $0.keys[key] = nil } }

    /// The numbers of the open backends.
    var backends: Set<UInt32> { state.withLock { $0.backends } }

    func has(backend: UInt32) -> Bool { state.withLock { $0.backends.contains(backend) } }

    /// Whether the process can sign with the key.
    func has(key: UInt32) -> Bool {
        state.withLock { state in
            if let known = state.keys[key] { known == nil } else { false }
        }
    }

    /// Why the process cannot sign with the key; nil if it can, or if it never tried to find it.
    func error(of key: UInt32) -> KeyError? { state.withLock { $0.keys[key] ?? nil } }

    func close(backend: UInt32, within timeout: Duration) async {
        state.withLock { _ = $0.backends.remove(backend) }
        _ = try? await call(.close(backend: backend), within: timeout)
    }

    /// A call whose answer is no failure.
    func answer(_ call: SignerCall, within timeout: Duration) async throws(KeyError) -> SignerAnswer {
        let answer = try await self.call(call, within: timeout)
        if case .failed(let error, _) = answer { throw error }
        return answer
    }

    /// If the process ends meanwhile, the error says how it ended.
    private func call(_ call: SignerCall, within timeout: Duration) async throws(KeyError) -> SignerAnswer {
        do throws(KeyError) {
            let answer = try await connection.call(call, within: timeout)
            guard case .failed(let error, let secrets) = answer else { return answer }
            return .failed(error.shortened, secrets: secrets)
        } catch {
            guard error != .closed else { throw error }
            throw await reasonOfEnd() ?? error
        }
    }

    // MARK: Failures

    /// - Returns: whether the key has made no signature in this process for `time`, although others asked for some.
    func noteFailure(of key: UInt32, lasting time: Duration) -> Bool {
        state.withLock { state in
            isFailing.store(true, ordering: .relaxed)
            let now = ContinuousClock.now
            var failure = state.failing[key] ?? KeyFailure(since: now, last: now)
            // A key that is rarely used, and fails now and then, does not fail all the time.
            if now - failure.last > .seconds(5) { failure = KeyFailure(since: now, last: now) }
            failure.last = now
            failure.count += 1
            state.failing[key] = failure
            return failure.count >= 3 && now - failure.since >= time
        }
    }

    /// The key has signed, or is not used any more.
    func endFailure(of key: UInt32) {
        guard isFailing.load(ordering: .relaxed) else { return }
        state.withLock { state in
            state.failing[key] = nil
            isFailing.store(!state.failing.isEmpty, ordering: .relaxed)
        }
    }

    private struct KeyFailure {
        let since: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        var count = 0
    }

    func unexpected() -> KeyError {
        let error = KeyError.unavailable("The signer \(connection.name) sent an answer to another call; it was ended.")
        connection.end(error)
        return error
    }

    /// - Returns: false if a check is in progress.
    func beginHangCheck() -> Bool {
        state.withLock { state in
            defer { state.isChecked = true }
            return !state.isChecked
        }
    }

    func endHangCheck() { state.withLock { $0.isChecked = false } }

    // MARK: End

    /// Why the process has ended, for an error of a call to it; nil while it runs.
    func reasonOfEnd() async -> KeyError? { connection.isOpen ? nil : .unavailable(await end.reason()) }

    /// Lets the signatures in progress finish, closes the backends, ends the process, and waits for its end.
    func drain(within timeout: Duration) async {
        state.withLock { $0.isDraining = true }
        for backend in backends { await close(backend: backend, within: timeout) }
        connection.end(.closed)
        _ = await end.reason()
    }
}

/// Why a backend could not be opened, and the sources of the secrets that were read for it.
struct SignerOpenFailure: Error {
    let error: KeyError
    let secrets: [String]
}

/// How a process ended, once it is known.
private final class ProcessEnd: Sendable {
    private let sentence = Mutex<String?>(nil)
    private let isKnown = AsyncEvent()

    func note(_ reason: String) {
        sentence.withLock { $0 = $0 ?? reason }
        isKnown.happen()
    }

    func reason() async -> String {
        await isKnown.wait()
        return sentence.withLock { $0 } ?? "The signer process has ended."
    }
}
