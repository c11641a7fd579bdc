public import Glibc
import Logging
public import SignerProtocol
public import SigningKit
import Synchronization

/// A signer process: it opens key backends, and signs for the gateway at the other end of its socket. It knows no
/// request, no policy and no audit log.
///
/// One thread reads the socket. It submits digests itself; tasks answer the other calls.
public final class SignerHost: Sendable {
    let backendTypes: [any KeyBackend.Type]
    let secrets: any SecretSource
    public let socket: SignerSocket
    let writer: SignatureWriter
    let opened = Mutex(OpenedBackends())
    let questions: SignerQuestions
    private let onEnd: @Sendable () -> Void
    public let metrics: SignerMetrics

    /// - Parameters:
    ///   - descriptor: a connected stream socket. The host owns it.
    ///   - onEnd: called when there is no gateway at the other end any more; by default, it ends the process. A module
    ///     may hang in its last call, so nothing is closed then.
    public init(
        socket descriptor: Int32, backends: [any KeyBackend.Type], secrets: any SecretSource,
        onEnd: @escaping @Sendable () -> Void = { _exit(0) }
    ) {
        backendTypes = backends
        self.secrets = secrets
        self.onEnd = onEnd
        socket = SignerSocket(descriptor, onLoss: onEnd)
        writer = SignatureWriter(socket)
        questions = SignerQuestions(socket)
        metrics = SignerMetrics(socket)
    }

    /// Protects this process as the gateway's first call demands. Call it before the process has a second thread:
    /// Landlock protects the calling thread and its later threads only.
    ///
    /// - Parameter parent: the process that started this one. If it has ended, so does this one.
    /// - Returns: the reader with the rest of the input; nil if there is no gateway.
    /// - Throws: if the first frame is not a call to start, or has another version.
    public func protect(parent: Int32) throws(SignerProtocolError) -> SignerFrameReader? {
        try start { SignerProtection(applying: $0, parent: parent) }
    }

    func start(_ protect: (SignerStart) -> SignerProtection) throws(SignerProtocolError) -> SignerFrameReader? {
        var frames = SignerFrameReader()
        var order: Numbered<SignerCall>?
        while order == nil {
            let isOpen = try socket.read(into: &frames) { frame throws(SignerProtocolError) in
                guard frame.kind == .call, order == nil else {
                    throw SignerProtocolError("did not begin with a call to start")
                }
                order = try frame.decode()
            }
            guard isOpen else { return nil }
        }
        guard let order, case .start(let start) = order.message else {
            throw SignerProtocolError("did not begin with a call to start")
        }
        guard start.version == SignerStart.protocolVersion else {
            let error = KeyError.unfit("The signer is of another version of privyseal. Restart its service.")
            socket.send(Numbered(order.id, SignerAnswer.failed(error, secrets: [])), as: .answer)
            throw SignerProtocolError(
                "has version \(start.version) of the protocol, and this signer \(SignerStart.protocolVersion)")
        }
        socket.send(Numbered(order.id, SignerAnswer.started(protect(start))), as: .answer)
        return frames
    }

    /// Serves until the gateway closes the connection. The gateway closes backends by calls before.
    public func serve(_ frames: SignerFrameReader) async {
        let (calls, call) = AsyncStream.makeStream(of: Numbered<SignerCall>.self)
        let logger = Logger(label: "privyseal.signer")
        let isReading = SystemThread.start("privyseal-read") { [self] in
            do throws(SignerProtocolError) { try read(frames, call) } catch {
                logger.error("The gateway \(error); the signer ends")
            }
            call.finish()
            onEnd()
        }
        guard isReading else {
            logger.error("The system has no thread left; the signer ends")
            return onEnd()
        }
        await withDiscardingTaskGroup { group in
            for await call in calls {
                group.addTask { await self.answer(call) }
            }
        }
    }

    private func read(
        _ frames: SignerFrameReader, _ calls: AsyncStream<Numbered<SignerCall>>.Continuation
    ) throws(SignerProtocolError) {
        var frames = frames
        var isOpen = true
        while isOpen {
            isOpen = try socket.read(into: &frames) { frame throws(SignerProtocolError) in
                switch frame.kind {
                case .sign: submit(try SignRequest.read(frame.payload))
                case .call: calls.yield(try frame.decode())
                case .reply: questions.answer(try frame.decode())
                case .answer, .signatures, .refusals, .notice, .question:
                    throw SignerProtocolError("sent a frame that only a signer sends (\(frame.kind))")
                }
            }
        }
    }

    private func submit(_ requests: [SignRequest]) {
        writer.submitting {
            for request in requests {
                guard let key = opened.withLock({ $0.keys[request.key] }) else {
                    writer.finish(request.id, .failure(.closed))
                    continue
                }
                guard MonotonicTime.nanoseconds() < request.deadline else {
                    writer.finish(request.id, .failure(.unavailable("The signer got the digest too late to sign it.")))
                    continue
                }
                key.sign(request.digest) { [writer] in writer.finish(request.id, $0) }
            }
        }
    }
}

/// What a signer process has opened, by the numbers of the gateway.
struct OpenedBackends: Sendable {
    var backends: [UInt32: any KeyBackend] = [:]
    var keys: [UInt32: any SigningKey] = [:]
    /// The backend of each key.
    var backendOfKey: [UInt32: UInt32] = [:]
    var sessions: [UInt32: any ProvisioningSession] = [:]

    mutating func removeBackend(_ number: UInt32) -> (any KeyBackend)? {
        for (key, backend) in backendOfKey where backend == number { (keys[key], backendOfKey[key]) = (nil, nil) }
        return backends.removeValue(forKey: number)
    }
}
