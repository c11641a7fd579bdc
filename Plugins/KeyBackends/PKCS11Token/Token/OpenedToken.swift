import PKCS11
import SigningKit
import Synchronization

/// A token that was found by its URI, and the first session with it, which is logged in.
struct OpenedToken {
    let uri: TokenURI
    /// The URI without secrets, for messages.
    let place: String
    /// At the time of the search, before the login: a login resets some flags.
    let info: TokenInfo
    let session: Session
    let credentials: Credentials

    /// Opens the module, finds the token, opens the session and logs in. If a step fails, the module is closed again.
    init(
        _ locator: KeyLocator, as user: Session.User, in environment: KeyBackendEnvironment,
        session openSession: (SlotID, Module, TokenInfo) throws(KeyError) -> Session
    ) throws(KeyError) {
        let uri = try TokenURI(locator.uri)
        let pin: Secret? = if let source = uri.pinSource { try environment.secrets.secret(source) } else { nil }
        let credentials = Credentials(
            pin: pin, user: user, reopenOrderedAt: environment.reopenOrderedAt,
            memory: LoginMemory(uri.pinSource, in: environment))
        let place = locator.uri.description
        let module = try opening(place) { () throws(PKCS11Error) in
            let arguments = uri.initializationArguments
            if let path = uri.modulePath { return try Module.open(path: path, arguments: arguments) }
            return try Module.open(name: uri.moduleName ?? "", arguments: arguments)
        }
        var opened: Session?
        do throws(KeyError) {
            let (slot, info) = try Self.find(uri, place, in: module)
            let session = try openSession(slot, module, info)
            opened = session
            try Login.ensure(session, info, credentials)
            (self.info, self.session) = (info, session)
        } catch {
            // While another token of the module is open, nothing else would close the session.
            opened?.abandon()
            _ = module.closeAbandoned(within: 50)
            module.close()
            throw error
        }
        (self.uri, self.place, self.credentials) = (uri, place, credentials)
    }

    // MARK: Search

    /// Finds exactly one token.
    ///
    /// - Parameter place: the URI without secrets, for messages.
    /// - Throws: `notFound` or `ambiguous`, with a list of tokens.
    static func find(_ uri: TokenURI, _ place: String, in module: Module) throws(KeyError) -> (SlotID, TokenInfo) {
        let slots = try opening(place) { () throws(PKCS11Error) in try module.slots() }
        // An error of one token must not hide the others.
        let tokens = slots.compactMap { slot in (try? module.tokenInfo(of: slot)).map { (slot, $0) } }
            .filter { $0.1.flags.contains(.tokenInitialized) }
        let found = tokens.filter { uri.matches($0.1, in: $0.0) }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw .ambiguous(
                "\(found.count) tokens match \(place): \(list(found.map(\.1))). Add serial to the key's URI.")
        }
        throw .notFound("No token matches \(place). \(alternatives(to: tokens.map(\.1), slots.count))")
    }

    private static func alternatives(to tokens: [TokenInfo], _ slots: Int) -> String {
        guard tokens.isEmpty else { return "There is \(list(tokens))." }
        guard slots == 0 else {
            return
                "None of the module's \(slots) slots holds an initialized token. Initialize the token first, or check "
                + "whether the module reads the same configuration as the tool that initialized it."
        }
        return "The module has no slot with a token. Plug in the device, or start the service that the module uses; "
            + "for p11-kit-client.so, P11_KIT_SERVER_ADDRESS must name a running p11-kit server."
    }

    /// The maximum number of tokens in an error message.
    private static let listLimit = 8

    private static func list(_ tokens: [TokenInfo]) -> String {
        let shown = tokens.prefix(listLimit).map { token in
            "(token=\(token.label), serial=\(token.serial), manufacturer=\(token.manufacturer), model=\(token.model))"
        }.joined(separator: ", ")
        return tokens.count > listLimit ? "\(shown) and \(tokens.count - listLimit) more" : shown
    }
}

/// Runs calls that open a token or search for a key, and throws the `KeyError` of a failed one.
///
/// - Parameter name: of the token or the key, for messages.
func opening<Value>(
    _ name: @autoclosure () -> String, _ body: () throws(PKCS11Error) -> Value
) throws(KeyError) -> Value {
    do throws(PKCS11Error) { return try body() } catch { throw error.whileOpening(name()) }
}

/// A token that is being opened. The attempt ends when its last reference is released. A hung call keeps its reference;
/// it blocks its thread, and each further attempt would block another one.
final class OpenAttempt: Sendable {
    /// The times are in nanoseconds.
    private static let underWay = Mutex<[ObjectIdentifier: (locator: KeyLocator, begun: UInt64)]>([:])

    /// - Parameter timeout: in milliseconds; an attempt that takes longer counts as hung.
    /// - Throws: `unavailable` while a hung attempt for the same locator continues.
    init(_ locator: KeyLocator, timeout: Int) throws(KeyError) {
        let now = MonotonicTime.nanoseconds()
        let limit = UInt64(timeout) * 1_000_000
        let id = ObjectIdentifier(self)
        try Self.underWay.withLock { underWay throws(KeyError) in
            guard !underWay.values.contains(where: { $0.locator == locator && now >= $0.begun + limit }) else {
                throw .unavailable(
                    "A call that opens \(locator.uri) still hangs. The next attempt waits for its return.")
            }
            underWay[id] = (locator, now)
        }
    }

    deinit {
        let id = ObjectIdentifier(self)
        Self.underWay.withLock { $0[id] = nil }
    }
}
