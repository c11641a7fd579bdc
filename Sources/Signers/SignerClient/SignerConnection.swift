import Crypto
import Glibc
import NIOCore
import NIOPosix
import SignerProtocol
import SigningKit
import Synchronization

/// Why a signer made no signature.
enum SignerFailure: Error {
    /// The signer answered with an error of the key.
    case key(KeyError)
    /// The signer process was lost before it answered, so that another process may sign.
    case lost(KeyError)

    var keyError: KeyError {
        switch self {
        case .key(let error), .lost(let error): error
        }
    }
}

/// A connection to a signer process. Digests that arrive while the event loop is busy leave in one write.
final class SignerConnection: Sendable {
    typealias Answer = Result<P256Signature, SignerFailure>

    private struct Pending {
        /// Nil after the caller was cancelled: the signer's answer is then dropped.
        var caller: UnsafeContinuation<Answer, Never>?
        let deadline: UInt64
    }

    private struct State {
        var signatures: [UInt64: Pending] = [:]
        var calls: [UInt64: CheckedContinuation<Result<SignerAnswer, KeyError>, Never>] = [:]
        /// The turns to log in that the process has, by ID.
        var turns: [String: (LoginTurn, any LoginTurns)] = [:]
        /// Records that have not been written yet.
        var digests: [UInt8] = []
        var isFlushScheduled = false
        /// Questions without a reply.
        var questions = 0
        var logLines = NoticeLimit(100, in: .seconds(1))
        /// Notices and questions, and their bytes. A module could keep the gateway busy with them.
        var messages = NoticeLimit(2000, in: .seconds(1))
        var messageBytes = NoticeLimit(4 << 20, in: .seconds(1))
        /// Why the connection has ended.
        var end: KeyError?
        /// Signatures that the signer has sent.
        var received = 0
        /// At the signer's last count: the signatures that it had made, less those that it had sent.
        var unsent = 0
    }

    private let state = Mutex(State())
    private let ids = Atomic<UInt64>(0)
    private let channel: any Channel
    let name: String
    private let onEvent: @Sendable (SignerConnection.Event) -> Void

    enum Event: Sendable {
        case notice(SignerNotice)
        case question(Numbered<SignerQuestion>)
        /// `byItself`: the other end closed the connection.
        case ended(KeyError, byItself: Bool)
        /// The process is gone. The reason is a sentence.
        case gone(String)
    }

    /// Signatures that may wait for a process. Above it, a longer `queueLimit` of a backend has no effect.
    private static let limit = 8192
    /// Questions without a reply.
    private static let questionLimit = 64
    private static let watchInterval = TimeAmount.milliseconds(100)

    private init(_ channel: any Channel, name: String, onEvent: @escaping @Sendable (Event) -> Void) {
        self.channel = channel
        self.name = name
        self.onEvent = onEvent
    }

    /// - Parameter descriptor: a connected stream socket, which the connection owns.
    static func make(
        _ descriptor: Int32, name: String, onEvent: @escaping @Sendable (Event) -> Void
    ) async throws(KeyError) -> SignerConnection {
        do {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .withConnectedSocket(descriptor).get()
            let connection = SignerConnection(channel, name: name, onEvent: onEvent)
            try await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.addHandler(SignerFrameHandler(connection))
                connection.watch()
            }.get()
            try await channel.setOption(.autoRead, value: true).get()
            return connection
        } catch {
            throw .unavailable("The signer \(name) could not be connected: \(error).")
        }
    }

    // MARK: Signatures

    /// The number of digests without an answer.
    var load: Int { state.withLock { $0.signatures.count } }

    /// Signatures that the process has made for no digest of the gateway.
    var unsent: Int { state.withLock { $0.unsent } }

    var isOpen: Bool { state.withLock { $0.end == nil } }

    /// - Parameter deadline: see `SignRequest.deadline`. After it, the process counts as hanging and is ended.
    func sign(
        _ digest: SHA256Digest, with key: UInt32, deadline: UInt64
    ) async throws(SignerFailure) -> P256Signature {
        let id = ids.wrappingAdd(1, ordering: .relaxed).newValue
        let answer: Answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                submit(SignRequest(id: id, key: key, deadline: deadline, digest: digest), caller)
            }
        } onCancel: {
            cancel(id)
        }
        return try answer.get()
    }

    private func submit(_ request: SignRequest, _ caller: UnsafeContinuation<Answer, Never>) {
        var refusal: SignerFailure?
        let mustFlush = state.withLock { state in
            if let end = state.end {
                refusal = .lost(end)
            } else if state.signatures.count >= Self.limit {
                refusal = .key(.busy)
            }
            guard refusal == nil else { return false }
            state.signatures[request.id] = Pending(caller: caller, deadline: request.deadline)
            SignRequest.append(request, to: &state.digests)
            defer { state.isFlushScheduled = true }
            return !state.isFlushScheduled
        }
        if let refusal { return caller.resume(returning: .failure(refusal)) }
        if mustFlush { channel.eventLoop.execute { self.flush() } }
        // A cancellation before `submit` found no caller; a later one finds it.
        if Task.isCancelled { cancel(request.id) }
    }

    private func cancel(_ id: UInt64) {
        let caller = state.withLock { $0.signatures[id]?.caller.take() }
        // Its signature, if it comes, goes to no caller.
        caller?.resume(returning: .failure(.key(.cancelled)))
    }

    private func flush() {
        let digests = state.withLock { state in
            defer {
                state.digests.removeAll(keepingCapacity: true)
                state.isFlushScheduled = false
            }
            return state.digests
        }
        if !digests.isEmpty { write(SignerFrame(.sign, digests).bytes) }
    }

    private func write(_ bytes: [UInt8]) {
        channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: nil)
    }

    // MARK: Calls

    /// - Parameter timeout: after which the process is ended.
    /// - Throws: the error of the signer, or `unavailable`.
    func call(_ call: SignerCall, within timeout: Duration) async throws(KeyError) -> SignerAnswer {
        let overdue = KeyError.unavailable("The signer \(name) did not answer within \(timeout); it was ended.")
        let id = ids.wrappingAdd(1, ordering: .relaxed).newValue
        let watch = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            self.afterReading { self.end(overdue, ifWaiting: id) }
        }
        defer { watch.cancel() }
        let result: Result<SignerAnswer, KeyError> = await withCheckedContinuation { continuation in
            let end = state.withLock { state in
                if state.end == nil { state.calls[id] = continuation }
                return state.end
            }
            if let end { return continuation.resume(returning: .failure(end)) }
            write(SignerFrame.encoding(Numbered(id, call), as: .call).bytes)
        }
        return try result.get()
    }

    func reply(_ reply: Numbered<SignerReply>) {
        state.withLock { $0.questions -= 1 }
        write(SignerFrame.encoding(reply, as: .reply).bytes)
    }

    // MARK: Turns to log in

    /// - Returns: false if the process has ended.
    func keep(_ turn: LoginTurn, of turns: any LoginTurns) -> Bool {
        state.withLock { state in
            if state.end == nil { state.turns[turn.id] = (turn, turns) }
            return state.end == nil
        }
    }

    /// Nil for a turn that the process does not have.
    func takeTurn(_ id: String) -> (LoginTurn, any LoginTurns)? { state.withLock { $0.turns.removeValue(forKey: id) } }

    // MARK: Input

    /// On the event loop.
    func handle(_ frame: SignerFrame) throws(SignerProtocolError) {
        switch frame.kind {
        case .signatures: try deliver(try SignatureRecord.read(frame.payload))
        case .refusals:
            let refusals: [Numbered<KeyError>] = try frame.decode()
            guard !refusals.isEmpty else { throw SignerProtocolError("sent an empty list of refusals") }
            for refusal in refusals { try deliver(.failure(.key(refusal.message.shortened)), to: refusal.id) }
        case .answer:
            let answer: Numbered<SignerAnswer> = try frame.decode()
            // At 10,000 a second, the limit is reached after 28,000 years.
            if case .count(let made) = answer.message, !(0...1 << 53).contains(made) {
                throw SignerProtocolError("counted \(made) signatures")
            }
            let caller = state.withLock { state in
                if case .count(let made) = answer.message { state.unsent = made - state.received }
                return state.calls.removeValue(forKey: answer.id)
            }
            guard let caller else {
                throw SignerProtocolError("answered a call that it did not get")
            }
            caller.resume(returning: .success(answer.message))
        case .notice:
            try limitMessages(frame)
            let notice: SignerNotice = try frame.decode()
            if case .log = notice, !state.withLock({ $0.logLines.admitsNext() }) { return }
            onEvent(.notice(notice))
        case .question:
            try limitMessages(frame)
            let questions = state.withLock { state in
                state.questions += 1
                return state.questions
            }
            guard questions <= Self.questionLimit else {
                throw SignerProtocolError("asked more than \(Self.questionLimit) questions at one time")
            }
            onEvent(.question(try frame.decode()))
        case .call, .sign, .reply:
            throw SignerProtocolError("sent a frame that only the gateway sends (\(frame.kind))")
        }
    }

    private func limitMessages(_ frame: SignerFrame) throws(SignerProtocolError) {
        let isAdmitted = state.withLock { state in
            state.messages.admitsNext() && state.messageBytes.admitsNext(frame.payload.count)
        }
        guard isAdmitted else {
            throw SignerProtocolError("sent more than 2,000 messages or 4 MiB of them in a second")
        }
    }

    private func deliver(_ records: [SignatureRecord]) throws(SignerProtocolError) {
        let callers = try state.withLock { state throws(SignerProtocolError) in
            state.received += records.count
            var callers: [(UnsafeContinuation<Answer, Never>?, P256Signature)] = []
            callers.reserveCapacity(records.count)
            for record in records {
                guard let pending = state.signatures.removeValue(forKey: record.id) else {
                    // The callers that were found before would wait for ever.
                    for (caller, signature) in callers { caller?.resume(returning: .success(signature)) }
                    throw SignerProtocolError("sent a signature for which it got no digest")
                }
                callers.append((pending.caller, record.signature))
            }
            return callers
        }
        for (caller, signature) in callers { caller?.resume(returning: .success(signature)) }
    }

    private func deliver(_ answer: Answer, to id: UInt64) throws(SignerProtocolError) {
        guard let pending = state.withLock({ $0.signatures.removeValue(forKey: id) }) else {
            throw SignerProtocolError("refused a digest that it did not get")
        }
        pending.caller?.resume(returning: answer)
    }

    // MARK: End

    /// Looks for digests whose deadline has passed. A call in a module cannot be stopped, so the process is ended.
    private func watch() {
        channel.eventLoop.assertInEventLoop()
        channel.eventLoop.scheduleTask(in: Self.watchInterval) { [weak self] in
            guard let self, isOpen else { return }
            let now = MonotonicTime.nanoseconds()
            let isOverdue = { @Sendable in self.state.withLock { $0.signatures.values.contains { $0.deadline <= now } }
            }
            guard isOverdue() else { return watch() }
            afterReading {
                guard isOverdue() else { return self.watch() }
                self.end(.unavailable("The signer \(self.name) did not sign in time; it was ended."))
            }
        }
    }

    /// Runs `body` when the event loop has read the answers that have arrived: a busy loop runs timers before it reads.
    private func afterReading(_ body: @escaping @Sendable () -> Void) {
        channel.eventLoop.scheduleTask(in: Self.watchInterval, body)
    }

    /// Ends the connection if this call has no answer.
    private func end(_ error: KeyError, ifWaiting call: UInt64) {
        if state.withLock({ $0.calls[call] != nil }) { end(error) }
    }

    /// Ends the connection, and gives all callers this error. Only the first call has an effect.
    func end(_ error: KeyError, byItself: Bool = false) {
        let left = state.withLock {
            state -> (
                signatures: [Pending], calls: [CheckedContinuation<Result<SignerAnswer, KeyError>, Never>],
                turns: [(LoginTurn, any LoginTurns)]
            )? in
            guard state.end == nil else { return nil }
            state.end = error
            defer { (state.signatures, state.calls, state.turns) = ([:], [:], [:]) }
            return (Array(state.signatures.values), Array(state.calls.values), Array(state.turns.values))
        }
        guard let left else { return }
        channel.close(promise: nil)
        onEvent(.ended(error, byItself: byItself))
        for pending in left.signatures { pending.caller?.resume(returning: .failure(.lost(error))) }
        for call in left.calls { call.resume(returning: .failure(error)) }
        for (turn, turns) in left.turns { Task { await turns.end(turn, refused: nil) } }
    }
}

/// Splits the input of a connection into frames.
private final class SignerFrameHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: SignerConnection
    private var frames = SignerFrameReader()

    init(_ connection: SignerConnection) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { frames.append($0) }
        do throws(SignerProtocolError) {
            while let frame = try frames.next() { try connection.handle(frame) }
        } catch {
            connection.end(.unavailable("The signer \(connection.name) \(error); it was ended."))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.end(.unavailable("The signer \(connection.name) has ended."), byItself: true)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        connection.end(
            .unavailable("The connection to the signer \(connection.name) has failed: \(reason)."), byItself: true)
    }
}
