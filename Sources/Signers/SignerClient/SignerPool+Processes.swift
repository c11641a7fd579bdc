import Crypto
import Logging
import Metrics
import SignerProtocol
import SigningKit
import Synchronization

/// Starting and losing the processes of a pool. `SignerPool+Replacement` replaces them.
extension SignerPool {
    /// A process that ends sooner after its start makes the next start wait.
    private static let shortLife = Duration.seconds(1)

    /// - Parameter old: the process that it replaces.
    func add(_ process: SignerProcess, insteadOf old: SignerProcess? = nil) async {
        let backends = state.withLock { state in
            state.processes.removeAll { $0 === old }
            state.processes.append(process)
            state.failure = nil
            return Set(state.backends.keys)
        }
        // It may have ended before it was in the list. Then its loss was not noted.
        if !process.connection.isOpen { lost(process, .unavailable("The signer \(settings.name) has ended.")) }
        // A backend may have been closed while it was opened in the process.
        for backend in process.backends.subtracting(backends) { await process.close(backend: backend, within: timeout) }
    }

    private func start() async throws(KeyError) -> SignerProcess {
        let place = Mutex<SignerProcess?>(nil)
        let process = try await SignerProcess.start(settings) { [weak self] event in
            self?.handle(event, of: place.withLock { $0 })
        }
        place.withLock { $0 = process }
        // It may have ended before it was known.
        guard process.connection.isOpen else { throw .unavailable("The signer \(settings.name) has ended.") }
        return process
    }

    private func handle(_ notice: SignerNotice) {
        switch notice {
        case .event(let backend, let event):
            let (report, isOverLimit) = state.withLock { state in
                let isAdmitted = state.events.admitsNext()
                return (isAdmitted ? state.backends[backend]?.report : nil, state.events.hasJustBegunToRefuse)
            }
            report?(event.shortened)
            if isOverLimit {
                logger.warning(
                    "The signer reports more than 100 events a minute; the others are not recorded",
                    metadata: ["signer": "\(settings.name)"])
            }
        case .log(let line): SignerMessages.log(line, of: settings.name)
        case .metrics(let records): SignerMetricRecords.record(records, of: settings.name)
        case .progress: break
        }
    }

    private func handle(_ event: SignerConnection.Event, of process: SignerProcess?) {
        switch event {
        case .notice(let notice): handle(notice)
        case .question(let question): process?.connection.answer(question, of: settings.name, from: logins)
        case .ended(let error, _): if let process { lost(process, error) }
        case .gone(let reason): if let process { report(process, reason) }
        }
    }

    func lost(_ process: SignerProcess, _ error: KeyError) {
        let isLoss = state.withLock { state in
            guard let index = state.processes.firstIndex(where: { $0 === process }), error != .closed else {
                return false
            }
            state.processes.remove(at: index)
            state.losses += 1
            state.failures = process.begun + Self.shortLife < .now ? 0 : state.failures + 1
            state.unreported.insert(process.processID)
            if state.processes.isEmpty { state.failure = error }
            return !state.isClosed
        }
        guard isLoss else { return }
        noteLoss()
        restore()
    }

    func noteLoss() {
        Counter(label: "privyseal_signer_losses_total", dimensions: [("signer", settings.name)]).increment()
    }

    /// Reports a lost process, once its end is known.
    func report(_ process: SignerProcess, _ reason: String) {
        guard state.withLock({ $0.unreported.remove(process.processID) }) != nil else { return }
        let reports = state.withLock { state in state.isClosed ? [] : state.backends.values.map(\.report) }
        logger.error("A signer process was lost: \(reason)", metadata: ["signer": "\(settings.name)"])
        for report in reports { report(KeyBackendEvent(.signerLost, label: settings.name, reason: reason)) }
    }

    /// Starts missing processes, with a pause after each failure, until all run or the pool is closed.
    func restore() {
        let isFirst = state.withLock { state in
            defer { state.isRestoring = true }
            return !state.isRestoring
        }
        guard isFirst else { return }
        Task {
            while let pause = pauseBeforeRestoration() {
                try? await Task.sleep(for: pause)
                await changing.pass {
                    await startMissing()
                    await completeProcesses()
                }
            }
        }
    }

    /// 0, 50, 100, 200, 400, 500, 500 ms, … while a process is missing, and 1 s while a process lacks a backend or a key;
    /// nil if nothing is missing, or if only a person can help.
    private func pauseBeforeRestoration() -> Duration? {
        state.withLock { state in
            if !state.isClosed, state.failure?.concernsLogin != true {
                if state.processes.count < settings.processes {
                    return state.failures == 0 ? .zero : .milliseconds(min(500, 25 << min(state.failures, 8)))
                }
                if state.processes.contains(where: { isIncomplete($0, state.backends) }) { return .seconds(1) }
            }
            state.isRestoring = false
            return nil
        }
    }

    private func isIncomplete(_ process: SignerProcess, _ backends: [UInt32: Backend]) -> Bool {
        backends.contains { number, backend in
            !process.has(backend: number) || backend.keys.keys.contains { process.error(of: $0)?.mayPass == true }
        }
    }

    /// Opens backends and finds keys that were not there when the process began.
    private func completeProcesses() async {
        let backends = state.withLock { $0.isClosed ? [:] : $0.backends }
        for process in processes {
            for (number, backend) in backends {
                do throws(KeyError) {
                    if !process.has(backend: number) { try await open(backend, backend.repetition, in: process) }
                    _ = await prepareKeys(of: backend, in: process)
                } catch {
                    state.withLock { $0.failure = process.isUsable ? $0.failure : error }
                }
            }
        }
    }

    private func startMissing() async {
        let isMissing = state.withLock { !$0.isClosed && $0.processes.count < settings.processes }
        guard isMissing else { return }
        do throws(KeyError) {
            await add(try await prepared(needs: .anyBackend))
            logger.notice("A new signer process signs", metadata: ["signer": "\(settings.name)"])
        } catch {
            let isNews = state.withLock { state in
                defer { state.failure = error }
                state.failures += 1
                return !state.isClosed && state.failure != error
            }
            if isNews {
                logger.error("No signer process could be started: \(error)", metadata: ["signer": "\(settings.name)"])
            }
        }
    }

    /// A new process in which the backends are open and the keys have signed a proof.
    ///
    /// - Parameter needs: what must be open in it.
    func prepared(needs: Contents) async throws(KeyError) -> SignerProcess {
        let process = try await start()
        let (backends, isClosed) = state.withLock { state in
            state.starting = process
            return (state.backends, state.isClosed)
        }
        defer { state.withLock { $0.starting = nil } }
        guard !isClosed else {
            await process.drain(within: timeout)
            throw .closed
        }
        var failure: KeyError?
        for (_, backend) in backends.sorted(by: { $0.key < $1.key }) {
            do throws(KeyError) {
                try await open(backend, backend.repetition, in: process)
                if let error = await prepareKeys(of: backend, in: process) { throw error }
            } catch {
                failure = error
                if case .everything = needs { break }
                if !process.connection.isOpen { break }
            }
        }
        let hasNone = backends.keys.allSatisfy { !process.has(backend: $0) }
        let isEnough =
            switch needs {
            case .nothing: true
            case .anyBackend: !hasNone
            case .key(let key, let old):
                process.has(key: key)
                    && backends.allSatisfy { number, backend in
                        (process.has(backend: number) || !old.has(backend: number))
                            && backend.keys.keys.allSatisfy { process.has(key: $0) || !old.has(key: $0) }
                    }
            case .everything: false
            }
        if let failure, !isEnough || !process.connection.isOpen {
            process.connection.end(.closed)
            throw failure
        }
        return process
    }

    enum Contents {
        case nothing, anyBackend, everything
        /// This key, and all that is usable in that process.
        case key(UInt32, of: SignerProcess)
    }

    /// - Returns: the last error. The other keys can sign.
    private func prepareKeys(of backend: Backend, in process: SignerProcess) async -> KeyError? {
        var failure: KeyError?
        for (number, key) in backend.keys where !process.has(key: number) {
            do throws(KeyError) { try await prepare(key, of: backend, in: process) } catch { failure = error }
        }
        return failure
    }

    private func prepare(_ key: Key, of backend: Backend, in process: SignerProcess) async throws(KeyError) {
        let number = key.call.key
        let found = try await process.find(key.call, within: backend.timeout)
        guard found.publicKey.rawRepresentation == key.publicKey.rawRepresentation else {
            let error = KeyError.unfit(
                "The location of the signer \(settings.name) has another key under the same name now.")
            process.refuse(number, error)
            throw error
        }
        // Such a proof would cost money or a PIN.
        guard key.proofSchedule == .unlimited else { return }
        let digest = ProofOfPossession().digest
        let deadline = MonotonicTime.after(backend.timeout)
        do throws(SignerFailure) {
            let signature = try await process.connection.sign(digest, with: number, deadline: deadline)
            guard key.publicKey.verifies(signature, of: digest) else {
                throw SignerFailure.key(.failed("The signer \(settings.name) made a signature that does not verify."))
            }
        } catch {
            process.refuse(number, error.keyError)
            throw error.keyError
        }
    }

    func report(_ kind: KeyBackendEvent.Kind, _ reason: String) {
        for backend in state.withLock({ $0.backends.values }) {
            backend.report(KeyBackendEvent(kind, label: settings.name, reason: reason))
        }
    }

    var timeout: Duration { state.withLock { $0.backends.values.map(\.timeout).max() } ?? .seconds(10) }
}

extension KeyError {
    /// Whether another attempt may succeed without a person.
    fileprivate var mayPass: Bool {
        switch self {
        case .busy, .cancelled, .unavailable, .failed, .notFound: true
        case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .ambiguous, .unfit,
            .closed:
            false
        }
    }
}
