import SignerProtocol
import SigningKit
import Synchronization

/// Sessions in which keys are imported, generated and destroyed.
extension SignerHost {
    func provision(_ call: SignerCall, _ sources: SecretSources) async throws(KeyError) -> SignerAnswer {
        switch call {
        case .openSession(let call): return try await openSession(call, sources)
        case .take(let call): return .provisioned(try await take(call, sources))
        case .generate(let call):
            return .provisioned(
                try await session(call.session).generate(
                    as: KeySelector(try KeyURI(call.selector)), isResumed: call.isResumed, tell: tell(call.session)))
        case .makeWrappingKey(let session, let selector):
            return .wrappingKey(
                try await self.session(session).makeWrappingKey(as: KeySelector(try KeyURI(selector))))
        case .destroy(let call):
            let provision = call.provision
            return .destroyed(
                try await session(provision.session).destroy(
                    KeySelector(try KeyURI(provision.selector)), expecting: call.fingerprint,
                    isResumed: provision.isResumed, tell: tell(provision.session)))
        case .closeSession(let session):
            await opened.withLock { $0.sessions.removeValue(forKey: session) }?.close()
            return .done
        default: throw .failed("The signer has no such call for keys.")
        }
    }

    private func openSession(_ call: OpenCall, _ sources: SecretSources) async throws(KeyError) -> SignerAnswer {
        guard let type = try type(call.scheme) as? any KeyProvisioning.Type else {
            throw .unfit("The backend \(call.scheme) accepts no new keys.")
        }
        let session = try await type.provisioningSession(
            at: KeyLocator(try KeyURI(call.locator)), in: try environment(call, type, sources))
        opened.withLock { $0.sessions[call.number] = session }
        return .session(session.location, secrets: sources.read)
    }

    private func take(_ call: TakeCall, _ sources: SecretSources) async throws(KeyError) -> ProvisionedKey {
        let provision = call.provision
        return try await session(provision.session).take(
            try await incomingKey(call.source, sources), as: KeySelector(try KeyURI(provision.selector)),
            isResumed: provision.isResumed, allowsClear: call.allowsClear, tell: tell(provision.session))
    }

    private func incomingKey(
        _ source: TakeCall.Source, _ sources: SecretSources
    ) async throws(KeyError) -> IncomingKey {
        switch source {
        case .package(let package): return .wrapped(package)
        case .file(let text):
            let locator = KeyLocator(try KeyURI(text))
            guard let type = try type(locator.uri.scheme) as? any KeyMaterialReading.Type else {
                throw .invalidURI("the signer reads no key files")
            }
            let environment = KeyBackendEnvironment(
                settings: PluginSettings(defaultsOf: type.settings), secrets: sources)
            return .plain(try await type.material(at: locator, in: environment))
        }
    }

    private func session(_ number: UInt32) throws(KeyError) -> any ProvisioningSession {
        guard let session = opened.withLock({ $0.sessions[number] }) else { throw .closed }
        return session
    }

    private func tell(_ session: UInt32) -> @Sendable (String) -> Void {
        { [socket] sentence in socket.send(SignerNotice.progress(session: session, sentence), as: .notice) }
    }
}
