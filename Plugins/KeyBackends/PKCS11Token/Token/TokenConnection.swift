import Crypto
import PKCS11
import SigningKit
import Synchronization

/// A token with a login: its module, the anchor session that keeps the login, and the keys found so far.
///
/// Only the maintenance thread calls the token, except in `probe`. Mutable state still needs a lock: a replaced
/// maintenance thread may return from a hung call.
final class TokenConnection: Sendable {
    let module: Module
    /// For messages.
    let name: String
    private let credentials: Credentials
    private let uri: TokenURI
    private let place: String
    private let allowUnprotected: Bool
    private let state: Mutex<State>

    private struct State {
        var slot: SlotID
        var info: TokenInfo
        var anchor: Session
        var keys: [KeySelector: TokenKey] = [:]
        /// `Module.generation` when the keys were found.
        var keysGeneration: Int
        /// Whether the token accepts only read-write sessions.
        var needsWritableSessions: Bool
        /// Whether a call in the anchor session failed in a way that may be the session's fault.
        var isAnchorFailing = false
    }

    var info: TokenInfo { state.withLock { $0.info } }
    /// Before the first login of this process: a login resets some flags.
    let infoBeforeLogin: TokenInfo
    /// Changes if another token with the same keys replaces this one.
    var serial: String { state.withLock { $0.info.serial } }
    var anchor: Session { state.withLock { $0.anchor } }
    private var keys: [KeySelector: TokenKey] { state.withLock { $0.keys } }
    private var keysGeneration: Int { state.withLock { $0.keysGeneration } }

    init(
        _ locator: KeyLocator, _ settings: TokenSettings, in environment: KeyBackendEnvironment
    ) throws(KeyError) {
        allowUnprotected = settings.allowsUnprotectedKeys
        var needsWritable = false
        let opened = try OpenedToken(locator, as: settings.user, in: environment) {
            slot, module, info throws(KeyError) in
            try opening(info.name) { () throws(PKCS11Error) in try Self.open(on: slot, module, &needsWritable) }
        }
        module = opened.session.module
        state = Mutex(
            State(
                slot: opened.session.slot, info: opened.info, anchor: opened.session,
                keysGeneration: module.generation, needsWritableSessions: needsWritable))
        (uri, credentials, place) = (opened.uri, opened.credentials, opened.place)
        (name, infoBeforeLogin) = (opened.info.name, opened.info)
    }

    /// Ensures that the anchor session is logged in. Replaces it if it is dead or the token is in another slot now.
    func attach() throws(KeyError) {
        let (slot, info) = try OpenedToken.find(uri, place, in: module)
        state.withLock { ($0.slot, $0.info) = (slot, info) }
        var anchor = anchor
        let isFailing = state.withLock { $0.isAnchorFailing }
        if isFailing || (try? anchor.isLoggedIn()) == nil || anchor.slot != slot {
            var needsWritable = state.withLock { $0.needsWritableSessions }
            let former = anchor
            anchor = try opening(info.name) { () throws(PKCS11Error) in
                try Self.open(on: slot, module, &needsWritable)
            }
            state.withLock { [anchor] state in
                (state.anchor, state.needsWritableSessions, state.isAnchorFailing) = (anchor, needsWritable, false)
            }
            former.abandon()
        }
        try Login.ensure(anchor, info, credentials)
    }

    func openSession() throws(PKCS11Error) -> Session {
        let (slot, needsWritable) = state.withLock { ($0.slot, $0.needsWritableSessions) }
        var writable = needsWritable
        let session = try Self.open(on: slot, module, &writable)
        if writable != needsWritable { state.withLock { [writable] in $0.needsWritableSessions = writable } }
        return session
    }

    /// Sessions that may sign in parallel: one less than the token allows, because the anchor session needs one.
    func sessionLimit(_ wanted: Int) throws(KeyError) -> Int {
        guard let maximum = info.maximumSessions else { return wanted }
        guard maximum > 1 else {
            throw .unfit("The token \(info.name) allows \(maximum) session; two are needed, one to keep the login.")
        }
        return min(wanted, maximum - 1)
    }

    func key(_ selector: KeySelector, for pool: WorkerPool) throws(KeyError) -> TokenKey {
        let known = keys[selector]
        if let known, known.isPresent, !known.isFailing { return known }
        try replaceFailingAnchor()
        let (found, publicKey): (FoundKey, P256.Signing.PublicKey)
        do throws(KeyError) {
            (found, publicKey) = try find(selector, afterLogin: known == nil)
        } catch {
            // A failed search does not remove a known key.
            if let known { return known }
            throw error
        }
        if let known, known.publicKey.rawRepresentation == publicKey.rawRepresentation {
            if !known.isAt(found.handle) { known.moved(to: found.handle) }
            return known
        }
        let asksForPIN = try opening(info.name) { () throws(PKCS11Error) in
            try anchor.flag(.alwaysAuthenticate, of: found.handle) == true
        }
        let key = TokenKey(
            found, publicKey: publicKey, selector: selector, pool: pool, connection: self,
            contextLogin: asksForPIN ? ContextLogin(token: info, credentials: credentials) : nil)
        state.withLock { $0.keys[selector] = key }
        return key
    }

    private func replaceFailingAnchor() throws(KeyError) {
        if state.withLock({ $0.isAnchorFailing }) { try attach() }
    }

    /// - Parameter logsIn: whether to log in again if the token says that no user is logged in. Without a login, it shows no
    ///   private key, and its earlier answer may have been wrong.
    private func find(
        _ selector: KeySelector, afterLogin logsIn: Bool = false
    ) throws(KeyError) -> (FoundKey, P256.Signing.PublicKey) {
        do throws(KeyError) {
            if logsIn { try Login.ensure(anchor, info, credentials) }
            let found = try FoundKey.find(selector, on: info, in: anchor)
            try found.checkFitness(in: anchor, allowUnprotected: allowUnprotected)
            return (found, try PublicKeySearch.find(for: found, selector, in: anchor))
        } catch {
            // For example, an unfinished search blocks all others in the session.
            if case .unavailable = error { state.withLock { $0.isAnchorFailing = true } }
            throw error
        }
    }

    /// The selector may now match another key, or one without protection.
    private func findAgain(_ key: TokenKey) throws(KeyError) -> ObjectHandle {
        let (found, publicKey) = try find(key.selector)
        guard publicKey.rawRepresentation == key.publicKey.rawRepresentation else {
            throw .unfit("\(found.sentence) is not the same key as before. Restart the gateway if that is intended.")
        }
        return found.handle
    }

    /// Whether the module was initialised again since the keys were found, or keys are missing.
    var needsSearch: Bool { keysGeneration != module.generation || keys.values.contains { !$0.isPresent } }

    /// Whether there are keys, and the token has none of them now.
    var hasNoKey: Bool { !keys.isEmpty && !keys.values.contains { $0.isPresent } }

    /// Searches for missing keys, or for all keys if handles may have changed. A failed search does not stop others.
    ///
    /// - Throws: the error of the last missing key, if the token has none of the keys.
    func findKeysAgain(all: Bool = false) throws(KeyError) {
        let areStale = keysGeneration != module.generation
        var missing: KeyError?
        for key in keys.values where all || areStale || !key.isPresent {
            try replaceFailingAnchor()
            do throws(KeyError) {
                let handle = try findAgain(key)
                if areStale || !key.isAt(handle) { key.moved(to: handle) }
            } catch {
                // If the token does not answer, the key's handle may still be valid.
                if case .unavailable = error, key.isPresent, !areStale { continue }
                key.missed(because: error)
                missing = error
            }
        }
        if let missing, hasNoKey { throw missing }
        let generation = module.generation
        state.withLock { $0.keysGeneration = generation }
    }

    /// Checks whether a failing key has a new handle or is gone.
    func seek(_ key: TokenKey) {
        // Otherwise recovery searches for all keys anyway.
        guard keysGeneration == module.generation, key.isPresent, (try? replaceFailingAnchor()) != nil else { return }
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

    /// Signs in a new session to prove that it works: the token's own information is no proof. The signed text is not a
    /// valid request. Keys that require a PIN for each signature are left out, because the operator may have to type
    /// it.
    func prove(_ signer: Signer) throws(PKCS11Error) -> Bool {
        var failures: [(key: TokenKey, error: PKCS11Error)] = []
        var isWrong = false
        let provers = provers()
        // A key that failed before is no evidence against the session.
        let othersAskForPIN = hasKeyThatAsksForPIN()
        let mayLeaveOut = othersAskForPIN || provers.contains { !$0.isHanging }
        for key in provers where !(mayLeaveOut && key.isHanging) && !(othersAskForPIN && key.isFailing) {
            do throws(SigningFault) {
                if try Self.prove(signer, key) { return true }
                isWrong = true
            } catch {
                guard case .token(let error) = error else { continue }
                // Another key may show that the session is good. The next session begins with that key.
                failures.append((key, error))
            }
        }
        if let failure = failures.first(where: { !$0.error.losesKey })?.error ?? failures.first?.error {
            guard hasKeyThatAsksForPIN() else { throw failure }
            // The proof of the next session leaves these keys out.
            for (key, error) in failures where !error.namesSession {
                key.beganToFail(error.whileSigning(with: key.name))
            }
            guard failure.leavesSession(signer.session) else { throw failure }
            return true
        }
        if isWrong { return false }
        guard keys.values.contains(where: \.isPresent) else { return true }
        _ = try signer.session.isLoggedIn()
        return true
    }

    /// Runs on the thread of a signing worker. Checks whether another key signs in a session in which `key` failed.
    func probe(_ signer: Signer, except key: TokenKey) -> SessionProbe {
        var failure: PKCS11Error?
        for other in provers().filter({ $0 !== key && !$0.isFailing }).prefix(2) {
            do throws(SigningFault) {
                if try Self.prove(signer, other) { return .signed }
            } catch {
                if case .token(let error) = error { failure = failure ?? error }
            }
        }
        if let failure { return .failed(failure) }
        return hasKeyThatAsksForPIN(except: key) ? .othersAskForPIN : .noOtherKey
    }

    /// Whether the token has usable keys that require a PIN for each signature; no session is proved with them.
    private func hasKeyThatAsksForPIN(except key: TokenKey? = nil) -> Bool {
        keys.values.contains { $0 !== key && $0.isUsable && $0.requiresContextLogin && !$0.isFailing }
    }

    /// Keys that can prove a session. Keys without a recent failure come first. Failing keys come last: one may leave
    /// an operation active, which blocks the session for the others.
    private func provers() -> [TokenKey] {
        keys.values.filter { $0.isUsable && !$0.requiresContextLogin }.sorted { one, other in
            one.isFailing == other.isFailing ? one.failureTime < other.failureTime : other.isFailing
        }
    }

    private static func prove(_ signer: Signer, _ key: TokenKey) throws(SigningFault) -> Bool {
        let digest = ProofOfPossession().digest
        guard let signature = try key.sign(digest, with: signer),
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes)
        else { return false }
        guard key.publicKey.isValidSignature(parsed, for: digest) else { return false }
        if key.hasFailed { key.recovered() }
        return true
    }

    /// Closes the sessions and the module; the login ends with the last session.
    func close(_ sessions: [Session]) {
        for session in sessions + [anchor] { session.abandon() }
        _ = module.closeAbandoned(within: 1000)
        module.close()
        // The keys refer to the connection.
        state.withLock { $0.keys = [:] }
    }

    // MARK: Sessions

    /// Opens a read-only session, or a read-write one if the token refuses that (AWS CloudHSM: `CKR_FUNCTION_FAILED`).
    ///
    /// - Parameter needsWritable: becomes true if the token accepts only a read-write session.
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
