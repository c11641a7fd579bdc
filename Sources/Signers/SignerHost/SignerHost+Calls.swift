import Logging
import SignerProtocol
import SigningKit
import Synchronization

/// The calls of the gateway, except digests.
extension SignerHost {
    func answer(_ call: Numbered<SignerCall>) async {
        if case .count = call.message { return writer.sendCount(inAnswerTo: call.id) }
        let sources = SecretSources(secrets)
        let result: SignerAnswer
        do throws(KeyError) { result = try await answer(call.message, sources) } catch {
            result = .failed(error, secrets: sources.read)
        }
        metrics.flush()
        let frame = SignerFrame.encoding(Numbered(call.id, result), as: .answer)
        guard frame.payload.count < SignerFrame.maximumMessageLength else {
            let error = KeyError.failed("The signer's answer has \(frame.payload.count) bytes, which is too long.")
            return socket.send(Numbered(call.id, SignerAnswer.failed(error, secrets: [])), as: .answer)
        }
        socket.send(frame.bytes)
    }

    private func answer(_ call: SignerCall, _ sources: SecretSources) async throws(KeyError) -> SignerAnswer {
        switch call {
        case .start, .count: throw .failed("The signer does not expect this call.")
        case .open(let call):
            try await open(call, sources)
            return .opened(secrets: sources.read)
        case .findKey(let call): return .found(FoundKeyAnswer(try await find(call)))
        case .report(let backend): return .report(try await self.backend(backend).report())
        case .inspect(let call): return .inspection(try await inspect(call))
        case .endFailurePause(let key):
            opened.withLock { $0.keys[key] }?.endFailurePause()
            return .done
        case .close(let backend):
            await opened.withLock { $0.removeBackend(backend) }?.close()
            return .done
        case .openSession, .take, .generate, .makeWrappingKey, .destroy, .closeSession:
            return try await provision(call, sources)
        }
    }

    private func open(_ call: OpenCall, _ sources: SecretSources) async throws(KeyError) {
        let type = try type(call.scheme)
        let backend = try await type.open(
            KeyLocator(try KeyURI(call.locator)), in: try environment(call, type, sources))
        opened.withLock { $0.backends[call.number] = backend }
    }

    private func find(_ call: KeyCall) async throws(KeyError) -> any SigningKey {
        let key = try await backend(call.backend).key(try call.keySelector())
        opened.withLock { opened in
            opened.keys[call.key] = key
            opened.backendOfKey[call.key] = call.backend
        }
        return key
    }

    private func inspect(_ call: InspectCall) async throws(KeyError) -> KeyInspection {
        guard let backend = try backend(call.key.backend) as? any KeyInspecting else {
            throw .unfit("The keys of this backend cannot be inspected.")
        }
        return try await backend.inspect(try call.key.keySelector(), provenance: call.provenance)
    }

    private func backend(_ number: UInt32) throws(KeyError) -> any KeyBackend {
        guard let backend = opened.withLock({ $0.backends[number] }) else { throw .closed }
        return backend
    }

    func type(_ scheme: String) throws(KeyError) -> any KeyBackend.Type {
        guard let type = backendTypes.first(where: { $0.scheme == scheme }) else {
            throw .invalidURI("the signer has no backend for the scheme \(scheme)")
        }
        return type
    }

    func environment(
        _ call: OpenCall, _ type: any KeyBackend.Type, _ sources: SecretSources
    ) throws(KeyError) -> KeyBackendEnvironment {
        let number = call.number
        return KeyBackendEnvironment(
            settings: try PluginSettings(call.settings, for: type.settings), secrets: sources, logins: questions,
            reopenOrderedAt: call.orderedAt
        ) { [socket] event in
            socket.send(SignerNotice.event(backend: number, event), as: .notice)
        }
    }
}

/// Notes the sources of the secrets that a backend reads, so that the gateway can see whether they change.
final class SecretSources: SecretSource {
    private let source: any SecretSource
    private let seen = Mutex<Set<String>>([])

    init(_ source: any SecretSource) {
        self.source = source
    }

    func secret(_ reference: String) throws(KeyError) -> Secret {
        seen.withLock { _ = $0.insert(reference) }
        return try source.secret(reference)
    }

    func identity(of reference: String) -> String? { source.identity(of: reference) }

    var read: [String] { seen.withLock { $0.sorted() } }
}
