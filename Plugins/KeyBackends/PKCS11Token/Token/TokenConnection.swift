internal import Crypto
internal import PKCS11
internal import SigningKit
internal import Synchronization

/// A token that is logged in to: its module, the anchor session that keeps the login, and the keys found so far.
///
/// Only the keeper makes its calls. What changes is behind a lock all the same: a keeper whose call hung may come back
/// when another one has taken over.
final class TokenConnection: Sendable {
    let module: Module
    /// Of the token, for people; from any thread.
    let name: String
    let pin: Secret?
    private let uri: PKCS11URI
    private let place: String
    private let allowUnprotected: Bool
    /// Of the token that is there now: another one may come in its place, with the same keys.
    private let serial: TokenSerial
    private let state: Mutex<State>

    private struct State {
        var slot: SlotID
        var info: TokenInfo
        var anchor: Session
        var keys: [KeySelector: TokenKey] = [:]
        /// Of the module when the keys were found.
        var keysGeneration: Int
    }

    var info: TokenInfo { state.withLock { $0.info } }
    /// Before this process logged in for the first time: a login sets some flags back.
    let infoBeforeLogin: TokenInfo
    var slot: SlotID { state.withLock { $0.slot } }
    var anchor: Session { state.withLock { $0.anchor } }
    private var keys: [KeySelector: TokenKey] { state.withLock { $0.keys } }
    private var keysGeneration: Int { state.withLock { $0.keysGeneration } }

    /// Opens the module, finds the one token, and logs in.
    init(_ locator: KeyLocator, secrets: any SecretSource, allowUnprotected: Bool) throws(KeyError) {
        self.allowUnprotected = allowUnprotected
        let uri = try TokenAddress.parse(locator.uri)
        let pin: Secret? = if let source = uri.pinSource { try secrets.secret(source) } else { nil }
        let place = locator.uri.description
        let module = try Self.open(uri)
        do throws(KeyError) {
            let (slot, info) = try TokenSearch.find(uri, place, in: module)
            let anchor = try Self.session(on: slot, module, info)
            try Login.ensure(anchor, info, pin: pin)
            state = Mutex(State(slot: slot, info: info, anchor: anchor, keysGeneration: module.generation))
            name = info.name
            infoBeforeLogin = info
            serial = TokenSerial(info.serial)
        } catch {
            // Sessions that were opened go with the module, or belong to the next who opens it.
            module.close()
            throw error
        }
        (self.module, self.uri, self.pin, self.place) = (module, uri, pin, place)
    }

    /// Makes sure that there is an anchor session that is logged in: a new session where the old one is dead, on
    /// whatever slot the token is now.
    func attach() throws(KeyError) {
        let (slot, info) = try TokenSearch.find(uri, place, in: module)
        state.withLock { ($0.slot, $0.info) = (slot, info) }
        serial.set(info.serial)
        var anchor = anchor
        if (try? anchor.isLoggedIn()) == nil || anchor.slot != slot {
            anchor = try Self.session(on: slot, module, info)
            state.withLock { $0.anchor = anchor }
        }
        try Login.ensure(anchor, info, pin: pin)
    }

    func openSession() throws(PKCS11Error) -> Session {
        try Session(on: slot, of: module)
    }

    /// Sessions that may sign at once: one less than the token allows, for the anchor.
    func sessionLimit(_ wanted: Int) throws(KeyError) -> Int {
        guard let maximum = info.maximumSessions else { return wanted }
        guard maximum > 1 else {
            throw .unfit("The token \(info.name) allows \(maximum) session; two are needed, one to keep the login.")
        }
        return min(wanted, maximum - 1)
    }

    func key(_ selector: KeySelector, for pool: LanePool) throws(KeyError) -> TokenKey {
        if let key = keys[selector] { return key }
        let (found, publicKey) = try find(selector)
        let key = TokenKey(
            found, publicKey: publicKey, selector: selector, pool: pool, serial: serial,
            contextLogin: try contextLogin(for: found))
        state.withLock { $0.keys[selector] = key }
        return key
    }

    private func find(_ selector: KeySelector) throws(KeyError) -> (FoundKey, P256.Signing.PublicKey) {
        let found = try KeySearch.find(selector, on: info, in: anchor)
        try KeyFitness.check(found, in: anchor, allowUnprotected: allowUnprotected)
        return (found, try PublicKeySearch.find(for: found, selector, in: anchor))
    }

    /// Under the same name there may be another key by now, or one that is not protected.
    private func findAgain(_ key: TokenKey) throws(KeyError) -> ObjectHandle {
        let (found, publicKey) = try find(key.selector)
        guard publicKey.rawRepresentation == key.publicKey.rawRepresentation else {
            throw .unfit("\(found.sentence) is another one than before. Start the gateway again if that is meant.")
        }
        return found.handle
    }

    private func contextLogin(for key: FoundKey) throws(KeyError) -> ContextLogin? {
        do throws(PKCS11Error) {
            guard try anchor.flag(.alwaysAuthenticate, of: key.handle) == true else { return nil }
        } catch {
            throw error.whileOpening(info.name)
        }
        return ContextLogin(info, pin: pin)
    }

    /// Whether handles are of a module that was initialised again since, or keys are missing.
    var needsSearch: Bool {
        keysGeneration != module.generation || keys.values.contains { !$0.isPresent }
    }

    /// Whether there are keys, and the token has none of them now.
    var hasNoKey: Bool { !keys.isEmpty && !keys.values.contains { $0.isPresent } }

    /// Finds keys again: those that are missing, or all where handles may have changed.
    ///
    /// - Throws: what the last missing key threw, when the token has none of them; and `unavailable` when it does not
    ///   answer, which says nothing about a key.
    func findKeysAgain(all: Bool = false) throws(KeyError) {
        let all = all || keysGeneration != module.generation
        var missing: KeyError?
        for key in keys.values where all || !key.isPresent {
            do throws(KeyError) {
                key.moved(to: try findAgain(key))
            } catch {
                if case .unavailable = error { throw error }
                key.missed(because: error)
                missing = error
            }
        }
        if let missing, hasNoKey { throw missing }
        let generation = module.generation
        state.withLock { $0.keysGeneration = generation }
    }

    /// Signs with a new session, to see that it can: what the token says of itself is not proof. The digest is of a
    /// text that nobody takes for a request.
    func prove(_ signer: Signer) throws(PKCS11Error) -> Bool {
        var loss: PKCS11Error?
        for key in keys.values where key.isUsable {
            do throws(SigningFault) {
                return try Self.prove(signer, key)
            } catch {
                switch error {
                // It is not the session's fault; another key may show that.
                case .token(let error) where error.losesKey: loss = error
                case .token(let error), .refused(_, by: let error?): throw error
                case .refused(_, by: nil): continue
                }
            }
        }
        if let loss { throw loss }
        return true
    }

    private static func prove(_ signer: Signer, _ key: TokenKey) throws(SigningFault) -> Bool {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<4).map { _ in String(generator.next(), radix: 16) }.joined()
        let digest = SHA256.hash(data: Array("PrivySeal: is this session alive? \(salt)".utf8))
        guard let signature = try key.sign(digest, with: signer),
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
        else { return false }
        return key.publicKey.isValidSignature(parsed, for: digest)
    }

    /// Gives the module back; the login ends with the last session.
    func close(_ sessions: [Session], within milliseconds: Int) {
        _ = Session.close(sessions + [anchor], within: milliseconds)
        module.close()
    }

    // MARK: Parts

    static func open(_ uri: PKCS11URI) throws(KeyError) -> Module {
        do throws(PKCS11Error) {
            if let path = uri.modulePath { return try Module.open(path: path) }
            return try Module.open(name: uri.moduleName ?? "")
        } catch {
            throw error.whileOpening("behind the module")
        }
    }

    private static func session(
        on slot: SlotID, _ module: Module, _ info: TokenInfo
    ) throws(KeyError) -> Session {
        do throws(PKCS11Error) {
            return try Session(on: slot, of: module)
        } catch {
            throw error.whileOpening(info.name)
        }
    }
}
