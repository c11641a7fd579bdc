import SignerProtocol
import SigningKit
import Synchronization

/// A provisioning session in a signer process of its own, which ends with the session.
final class SignerProvisioningSession: ProvisioningSession {
    let location: ProvisioningLocation
    private let process: SignerProcess
    private let progress: Progress

    /// Receives the sentences of the call in progress; there is one call at a time.
    private final class Progress: Sendable {
        let tell = Mutex<(@Sendable (String) -> Void)?>(nil)
    }

    /// The number of the only session in the process.
    private static let number: UInt32 = 1
    /// A smart card needs a minute for an RSA pair, and the session's own limit comes first.
    private static let timeout = Duration.seconds(200)

    private init(_ location: ProvisioningLocation, _ process: SignerProcess, _ progress: Progress) {
        (self.location, self.process, self.progress) = (location, process, progress)
    }

    static func open(
        _ scheme: String, _ locator: KeyLocator, _ signer: SignerSettings, _ environment: KeyBackendEnvironment
    ) async throws(KeyError) -> SignerProvisioningSession {
        let progress = Progress()
        let connection = Mutex<SignerConnection?>(nil)
        let process = try await SignerProcess.start(signer) { event in
            switch event {
            case .notice(.progress(_, let sentence)): progress.tell.withLock { $0 }?(sentence.shortened)
            case .notice(.log(let line)): SignerMessages.log(line, of: signer.name)
            case .question(let question):
                connection.withLock { $0 }?.answer(question, of: signer.name, from: environment.logins)
            case .notice, .ended, .gone: break
            }
        }
        connection.withLock { $0 = process.connection }
        do throws(KeyError) {
            let call = OpenCall(
                number, scheme: scheme, locator, environment.settings, orderedAt: MonotonicTime.nanoseconds())
            guard case .session(let location, _) = try await process.answer(.openSession(call), within: timeout) else {
                throw process.unexpected()
            }
            return SignerProvisioningSession(location, process, progress)
        } catch {
            process.connection.end(.closed)
            throw error
        }
    }

    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        let source: TakeCall.Source
        switch key {
        case .wrapped(let package): source = .package(package)
        case .plain(let material):
            guard let file = material.source else {
                throw .failed("The key comes from no file, so no signer can read it.")
            }
            source = .file(file.uri.text)
        }
        let call = TakeCall(provision(selector, isResumed), source, allowsClear: allowsClear)
        return try await provisioned(.take(call), tell)
    }

    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await provisioned(.generate(provision(selector, isResumed)), tell)
    }

    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey {
        let call = SignerCall.makeWrappingKey(session: Self.number, selector: selector.uri.text)
        guard case .wrappingKey(let key) = try await answer(call) else { throw process.unexpected() }
        return key
    }

    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey {
        let call = DestroyCall(provision(selector, isResumed), expecting: fingerprint)
        guard case .destroyed(let key) = try await answer(.destroy(call), tell) else { throw process.unexpected() }
        return key
    }

    func close() async {
        _ = try? await process.answer(.closeSession(session: Self.number), within: .seconds(15))
        process.connection.end(.closed)
    }

    private func provision(_ selector: KeySelector, _ isResumed: Bool) -> ProvisionCall {
        ProvisionCall(session: Self.number, selector, isResumed: isResumed)
    }

    private func provisioned(
        _ call: SignerCall, _ tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        guard case .provisioned(let key) = try await answer(call, tell) else { throw process.unexpected() }
        return key
    }

    private func answer(
        _ call: SignerCall, _ tell: (@Sendable (String) -> Void)? = nil
    ) async throws(KeyError) -> SignerAnswer {
        progress.tell.withLock { $0 = tell }
        defer { progress.tell.withLock { $0 = nil } }
        return try await process.answer(call, within: Self.timeout)
    }
}
