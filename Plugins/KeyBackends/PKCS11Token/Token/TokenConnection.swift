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
    private let credentials: Credentials
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
        /// Whether the token takes sessions only that may change it.
        var needsWritableSessions: Bool
        /// Whether a call with the anchor failed in a way that may be the session's fault.
        var isAnchorIll = false
        /// Anchors that others took the place of, and that are not closed yet.
        var formerAnchors: [Session] = []
    }

    var info: TokenInfo { state.withLock { $0.info } }
    /// Before this process logged in for the first time: a login sets some flags back.
    let infoBeforeLogin: TokenInfo
    var slot: SlotID { state.withLock { $0.slot } }
    var anchor: Session { state.withLock { $0.anchor } }
    private var keys: [KeySelector: TokenKey] { state.withLock { $0.keys } }
    private var keysGeneration: Int { state.withLock { $0.keysGeneration } }

    /// Opens the module, finds the one token, and logs in.
    init(
        _ locator: KeyLocator, secrets: any SecretSource, _ settings: TokenSettings,
        orderedAt: ContinuousClock.Instant?
    ) throws(KeyError) {
        allowUnprotected = settings.allowsUnprotectedKeys
        let uri = try TokenAddress.parse(locator.uri)
        let pin: Secret? = if let source = uri.pinSource { try secrets.secret(source) } else { nil }
        let credentials = Credentials(pin: pin, user: settings.user, orderedAt: orderedAt)
        let place = locator.uri.description
        let module = try Self.open(uri)
        var opened: [Session] = []
        do throws(KeyError) {
            let (slot, info) = try TokenSearch.find(uri, place, in: module)
            var needsWritable = false
            let anchor = try Self.session(on: slot, module, info, &needsWritable)
            opened = [anchor]
            try Login.ensure(anchor, info, credentials)
            state = Mutex(
                State(
                    slot: slot, info: info, anchor: anchor, keysGeneration: module.generation,
                    needsWritableSessions: needsWritable))
            name = info.name
            infoBeforeLogin = info
            serial = TokenSerial(info.serial)
        } catch {
            // While another token of the module is open, nothing else would end the session.
            Session.abandon(opened)
            module.close()
            throw error
        }
        (self.module, self.uri, self.credentials, self.place) = (module, uri, credentials, place)
    }

    /// Makes sure that there is an anchor session that is logged in: a new session where the old one is dead, on
    /// whatever slot the token is now.
    func attach() throws(KeyError) {
        let (slot, info) = try TokenSearch.find(uri, place, in: module)
        state.withLock { ($0.slot, $0.info) = (slot, info) }
        serial.set(info.serial)
        var anchor = anchor
        let isIll = state.withLock { $0.isAnchorIll }
        if isIll || (try? anchor.isLoggedIn()) == nil || anchor.slot != slot {
            var needsWritable = state.withLock { $0.needsWritableSessions }
            anchor = try Self.session(on: slot, module, info, &needsWritable)
            state.withLock { [anchor] state in
                state.formerAnchors.append(state.anchor)
                (state.anchor, state.needsWritableSessions, state.isAnchorIll) = (anchor, needsWritable, false)
            }
        }
        try Login.ensure(anchor, info, credentials)
    }

    /// Anchors that others took the place of: they may be open still. The caller closes them.
    func takeFormerAnchors() -> [Session] {
        state.withLock { state in
            defer { state.formerAnchors = [] }
            return state.formerAnchors
        }
    }

    func openSession() throws(PKCS11Error) -> Session {
        let (slot, needsWritable) = state.withLock { ($0.slot, $0.needsWritableSessions) }
        var writable = needsWritable
        let session = try Self.open(on: slot, module, &writable)
        if writable != needsWritable { state.withLock { [writable] in $0.needsWritableSessions = writable } }
        return session
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
        let known = keys[selector]
        if let known, known.isPresent, !known.isIll { return known }
        try replaceIllAnchor()
        let (found, publicKey): (FoundKey, P256.Signing.PublicKey)
        do throws(KeyError) {
            (found, publicKey) = try find(selector)
        } catch {
            // A key that is known stays, with what is known of it.
            if let known { return known }
            throw error
        }
        if let known, known.publicKey.rawRepresentation == publicKey.rawRepresentation {
            if !known.isAt(found.handle) { known.moved(to: found.handle) }
            return known
        }
        let key = TokenKey(
            found, publicKey: publicKey, selector: selector, pool: pool, serial: serial,
            contextLogin: try contextLogin(for: found))
        state.withLock { $0.keys[selector] = key }
        return key
    }

    private func replaceIllAnchor() throws(KeyError) {
        if state.withLock({ $0.isAnchorIll }) { try attach() }
    }

    private func find(_ selector: KeySelector) throws(KeyError) -> (FoundKey, P256.Signing.PublicKey) {
        do throws(KeyError) {
            let found = try KeySearch.find(selector, on: info, in: anchor)
            try KeyFitness.check(found, in: anchor, allowUnprotected: allowUnprotected)
            return (found, try PublicKeySearch.find(for: found, selector, in: anchor))
        } catch {
            // A search that was not ended, for one, keeps the session from all others.
            if case .unavailable = error { state.withLock { $0.isAnchorIll = true } }
            throw error
        }
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
        return ContextLogin(token: info, credentials: credentials)
    }

    /// Whether handles are of a module that was initialised again since, or keys are missing.
    var needsSearch: Bool {
        keysGeneration != module.generation || keys.values.contains { !$0.isPresent }
    }

    /// Whether there are keys, and the token has none of them now.
    var hasNoKey: Bool { !keys.isEmpty && !keys.values.contains { $0.isPresent } }

    /// Finds keys again: those that are missing, or all where handles may have changed. A key whose search fails does not
    /// keep the others from being found.
    ///
    /// - Throws: what the last missing key threw, when the token has none of them.
    func findKeysAgain(all: Bool = false) throws(KeyError) {
        let areStale = keysGeneration != module.generation
        var missing: KeyError?
        for key in keys.values where all || areStale || !key.isPresent {
            try replaceIllAnchor()
            do throws(KeyError) {
                let handle = try findAgain(key)
                if areStale || !key.isAt(handle) { key.moved(to: handle) }
            } catch {
                // A token that does not answer says nothing about a key whose handle may still be good.
                if case .unavailable = error, key.isPresent, !areStale { continue }
                key.missed(because: error)
                missing = error
            }
        }
        if let missing, hasNoKey { throw missing }
        let generation = module.generation
        state.withLock { $0.keysGeneration = generation }
    }

    /// Looks whether a key that is ill has another handle by now, or is gone.
    func seek(_ key: TokenKey) {
        // Otherwise all keys are sought anyway.
        guard keysGeneration == module.generation, key.isPresent, (try? replaceIllAnchor()) != nil else { return }
        do throws(KeyError) {
            let handle = try findAgain(key)
            if !key.isAt(handle) { key.moved(to: handle) }
        } catch {
            switch error {
            case .notFound, .ambiguous, .unfit: key.missed(because: error)
            case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .unavailable, .failed,
                .busy, .cancelled, .closed:
                break
            }
        }
    }

    /// Signs with a new session, to see that it can: what the token says of itself is not proof. The digest is of a
    /// text that nobody takes for a request.
    ///
    /// A key that asks for a PIN each time is no proof: a person may have to type it.
    func prove(_ signer: Signer) throws(PKCS11Error) -> Bool {
        var failures: [(key: TokenKey, error: PKCS11Error)] = []
        var isWrong = false
        let provers = provers()
        // A session is no worse for a key that was ill before.
        let mayLeaveOut = hasOthersThatAskForPIN || provers.contains { !$0.isHanging }
        for key in provers where !(mayLeaveOut && key.isHanging) && !(hasOthersThatAskForPIN && key.isIll) {
            do throws(SigningFault) {
                if try Self.prove(signer, key) { return true }
                isWrong = true
            } catch {
                guard case .token(let error) = error else { continue }
                // Another key may show that it is not the session's fault; the next session begins with that one.
                failures.append((key, error))
            }
        }
        if let failure = failures.first(where: { !$0.error.losesKey })?.error ?? failures.first?.error {
            guard hasOthersThatAskForPIN else { throw failure }
            // The next session is not proved with these keys.
            for (key, error) in failures where !error.namesSession {
                key.fellIll(error.whileSigning(with: key.name))
            }
            guard failure.leavesSession(signer.session) else { throw failure }
            return true
        }
        if isWrong { return false }
        guard keys.values.contains(where: \.isPresent) else { return true }
        _ = try signer.session.isLoggedIn()
        return true
    }

    /// On a lane's thread: whether another key signs with a session with which this one does not.
    func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe {
        var failure: PKCS11Error?
        for other in provers().filter({ $0 !== key && !$0.isIll }).prefix(2) {
            do throws(SigningFault) {
                if try Self.prove(signer, other) { return .signed }
            } catch {
                if case .token(let error) = error { failure = failure ?? error }
            }
        }
        if let failure { return .failed(failure) }
        let othersAsk = keys.values.contains { $0 !== key && $0.isUsable && $0.asksForEachSignature && !$0.isIll }
        return othersAsk ? .othersAskForPIN : .noOtherKey
    }

    /// Whether the token has keys that no session is proved with.
    private var hasOthersThatAskForPIN: Bool {
        keys.values.contains { $0.isUsable && $0.asksForEachSignature && !$0.isIll }
    }

    /// Keys that can show whether a session signs. Those that did not fail lately come first, and ill ones last: one may
    /// leave an operation behind, which keeps the session from the others.
    private func provers() -> [TokenKey] {
        keys.values.filter { $0.isUsable && !$0.asksForEachSignature }.sorted { one, other in
            one.isIll == other.isIll ? one.failureTime < other.failureTime : other.isIll
        }
    }

    private static func prove(_ signer: Signer, _ key: TokenKey) throws(SigningFault) -> Bool {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<4).map { _ in String(generator.next(), radix: 16) }.joined()
        let digest = SHA256.hash(data: Array("PrivySeal: is this session alive? \(salt)".utf8))
        guard let signature = try key.sign(digest, with: signer),
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
        else { return false }
        guard key.publicKey.isValidSignature(parsed, for: digest) else { return false }
        if key.hasFailed { key.recovered() }
        return true
    }

    /// Gives the module back; the login ends with the last session.
    func close(_ sessions: [Session], within milliseconds: Int) {
        _ = Session.close(sessions + [anchor], within: milliseconds)
        module.close()
    }

    // MARK: Parts

    static func open(_ uri: PKCS11URI) throws(KeyError) -> Module {
        do throws(PKCS11Error) {
            let arguments = uri.initializationArguments
            if let path = uri.modulePath { return try Module.open(path: path, arguments: arguments) }
            return try Module.open(name: uri.moduleName ?? "", arguments: arguments)
        } catch {
            throw error.whileOpening("behind the module")
        }
    }

    private static func session(
        on slot: SlotID, _ module: Module, _ info: TokenInfo, _ needsWritable: inout Bool
    ) throws(KeyError) -> Session {
        do throws(PKCS11Error) {
            return try open(on: slot, module, &needsWritable)
        } catch {
            throw error.whileOpening(info.name)
        }
    }

    /// Read-only, unless the token refuses that: AWS CloudHSM does, with `CKR_FUNCTION_FAILED`.
    ///
    /// - Parameter needsWritable: becomes true when the token took a read-write session only.
    private static func open(
        on slot: SlotID, _ module: Module, _ needsWritable: inout Bool
    ) throws(PKCS11Error) -> Session {
        if needsWritable { return try Session(on: slot, of: module, writable: true) }
        do throws(PKCS11Error) {
            return try Session(on: slot, of: module)
        } catch {
            guard [.functionFailed, .argumentsBad, .sessionReadOnly].contains(error.returnValue),
                let session = try? Session(on: slot, of: module, writable: true)
            else { throw error }
            needsWritable = true
            return session
        }
    }
}
