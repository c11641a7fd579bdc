internal import PKCS11
internal import SigningKit

/// A token with one read-write session, for one thread.
struct TokenWorkSession: Sendable {
    let module: Module
    let info: TokenInfo
    let slot: SlotID
    let session: Session

    /// Finds the token and logs in as the signing backend does.
    init(_ locator: KeyLocator, in environment: KeyBackendEnvironment) throws(KeyError) {
        let uri = try TokenAddress.parse(locator.uri)
        let pin: Secret? = if let source = uri.pinSource { try environment.secrets.secret(source) } else { nil }
        let user = TokenSettings(environment.settings).user
        let module = try TokenConnection.open(uri)
        var opened: [Session] = []
        do throws(KeyError) {
            let (slot, info) = try TokenSearch.find(uri, locator.uri.description, in: module)
            guard !info.flags.contains(.writeProtected) else { throw info.readOnly("CKF_WRITE_PROTECTED") }
            let session = try Self.open(slot, module, info)
            opened = [session]
            try Login.ensure(session, info, Credentials(pin: pin, user: user))
            (self.module, self.slot, self.info, self.session) = (module, slot, info, session)
        } catch {
            // While another token of the module is open, nothing else would close the session.
            Session.abandon(opened)
            module.close()
            throw error
        }
    }

    /// Runs `body`; the error names the step.
    func attempt<Value>(
        _ step: String, _ body: (Session) throws(PKCS11Error) -> Value
    ) throws(KeyError) -> Value {
        do throws(PKCS11Error) { return try body(session) } catch { throw error.whileProvisioning(info, step) }
    }

    func close() {
        _ = Session.close([session], within: 1000)
        module.close()
    }

    private static func open(_ slot: SlotID, _ module: Module, _ info: TokenInfo) throws(KeyError) -> Session {
        do throws(PKCS11Error) { return try Session(on: slot, of: module, writable: true) } catch {
            throw error.whileProvisioning(info, "open a read-write session")
        }
    }
}

extension PKCS11Error {
    /// - Parameter step: continues the sentence "The token could not".
    func whileProvisioning(_ token: TokenInfo, _ step: String) -> KeyError {
        switch returnValue {
        case .deviceMemory:
            return .unfit(
                "The token \(token.name) is full (\(self)). Destroy a retired key on it, or use another token.")
        case .tokenWriteProtected, .sessionReadOnly:
            return token.readOnly("\(self)")
        default:
            let sentence = "The token \(token.name) could not \(step): \(self)."
            return endsSession ? .unavailable(sentence) : .failed(sentence)
        }
    }
}

extension TokenInfo {
    func readOnly(_ evidence: String) -> KeyError {
        .unfit("The token \(name) is read-only (\(evidence)). Remove its write protection, or use another token.")
    }
}
