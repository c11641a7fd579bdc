import SignerProtocol
import SigningKit

extension SignerPool {
    /// A process answers from its memory, without a call into a module.
    private static let reportTimeout = Duration.seconds(5)
    /// An inspection tries several calls into the module.
    private static let inspectionTimeout = Duration.seconds(60)

    /// The report of a backend, with the pools of all processes together.
    func report(_ backend: UInt32) async -> KeyBackendReport {
        var all: KeyBackendReport?
        for process in processes where process.has(backend: backend) {
            guard
                case .report(let report) = try? await process.answer(
                    .report(backend: backend), within: Self.reportTimeout)
            else { continue }
            all = all?.adding(report.shortened) ?? report.shortened
        }
        if let all { return all }
        let reason = failure?.description ?? "The signer \(settings.name) is being started."
        return KeyBackendReport(health: .unavailable(reason), name: settings.name)
    }

    /// Ends a process in which a call into a module hangs: only its end ends the call. The backend in the process finds
    /// such a call, and answers the digest with an error.
    func endIfHanging(_ process: SignerProcess) {
        guard process.beginHangCheck() else { return }
        let backends = backendNumbers
        Task {
            for backend in backends where process.has(backend: backend) {
                guard
                    case .report(let report) = try? await process.answer(
                        .report(backend: backend), within: Self.reportTimeout), report.pool?.hungCalls ?? 0 > 0
                else { continue }
                process.connection.end(
                    .unavailable("A call into the module of the signer \(settings.name) hung; the process was ended."))
            }
            process.endHangCheck()
        }
    }

    func inspect(_ call: InspectCall) async throws(KeyError) -> KeyInspection {
        guard let process = processes.first(where: { $0.isUsable && $0.has(backend: call.key.backend) }) else {
            throw failure ?? .unavailable("The signer \(settings.name) is being started.")
        }
        guard case .inspection(let seen) = try await process.answer(.inspect(call), within: Self.inspectionTimeout)
        else { throw process.unexpected() }
        return seen
    }

    func endFailurePause(_ key: UInt32) {
        let processes = processes
        Task {
            for process in processes {
                _ = try? await process.answer(.endFailurePause(key: key), within: Self.reportTimeout)
            }
        }
    }

    /// Signatures that the processes have made for no digest of the gateway.
    func unsentSignatures() async -> Int {
        var sum = 0
        for process in processes {
            _ = try? await process.answer(.count, within: Self.reportTimeout)
            sum += max(0, process.connection.unsent)
        }
        return sum
    }
}

extension KeyBackendReport {
    /// The report of two processes with the same location.
    fileprivate func adding(_ other: KeyBackendReport) -> KeyBackendReport {
        var sum = self
        if case .ready = sum.health { sum.health = other.health }
        if let own = sum.pool, let more = other.pool {
            func add(_ figure: KeyPath<Pool, Int>) -> Int { own[keyPath: figure].addingClamped(more[keyPath: figure]) }
            sum.pool = Pool(
                wanted: add(\.wanted), ready: add(\.ready), busy: add(\.busy), hungCalls: add(\.hungCalls),
                queueDepth: add(\.queueDepth), queueLimit: add(\.queueLimit), reconnects: add(\.reconnects))
        }
        return sum
    }
}

extension Int {
    /// The figures come from another process.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
