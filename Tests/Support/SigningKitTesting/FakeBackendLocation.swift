public import Crypto
public import SigningKit
import Synchronization

/// The keys of a `FakeKeyBackend`, and the faults that a test scripts for them.
public final class FakeBackendLocation: Sendable {
    private struct State {
        var keys: [String: P256.Signing.PrivateKey] = [:]
        var shownPublicKey: P256.Signing.PublicKey?
        var health = KeyBackendHealth.ready
        var openingFault: KeyError?
        var proofSchedule = ProofSchedule.unlimited
        var secretReference: String?
        var tokenSerial: String?
        var openBackends = 0
        var faults: [KeyError] = []
        var outage: KeyError?
        var wear: (error: KeyError, lastOpening: Int)?
        var corrupt = 0
        var isHeld = false
        /// The number of signatures that still do not wait while `isHeld`.
        var passes = 0
        var counts = Counts()
        var inFlight = 0
        var nextTicket = 0
        var held: [Int: CheckedContinuation<Bool, Never>] = [:]
        var watchers: [Int: (inFlight: ClosedRange<Int>, continuation: CheckedContinuation<Void, Never>)] = [:]

        mutating func ticket() -> Int {
            nextTicket += 1
            return nextTicket
        }
    }

    /// The numbers of attempts to open a backend and of accepted requests to sign.
    public struct Counts: Equatable, Sendable {
        public var openings = 0
        public var signatures = 0
    }

    private static let places = Mutex<[String: FakeBackendLocation]>([:])

    /// The location's name in a key's URI.
    public let name: String
    private let state = Mutex(State())

    /// - Parameter name: unique among the tests of a process.
    public init(_ name: String) {
        self.name = name
        Self.places.withLock { $0[name] = self }
    }

    static func named(_ name: String) -> FakeBackendLocation? { places.withLock { $0[name] } }

    // MARK: Keys

    /// - Returns: the key's URI.
    @discardableResult
    public func add(_ keyName: String, _ key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()) -> String {
        state.withLock { $0.keys[keyName] = key }
        return "fake:\(name);key=\(keyName)"
    }

    /// Adds the same key under another name.
    ///
    /// - Returns: its URI; nil if there is no key `keyName`.
    public func copy(_ keyName: String, as copyName: String) -> String? {
        state.withLock { $0.keys[keyName] }.map { add(copyName, $0) }
    }

    public func remove(_ keyName: String) { state.withLock { $0.keys[keyName] = nil } }

    public var counts: Counts { state.withLock { $0.counts } }

    // MARK: Faults

    /// Replaces the public key that each key reports.
    public var shownPublicKey: P256.Signing.PublicKey? {
        get { state.withLock { $0.shownPublicKey } }
        set { state.withLock { $0.shownPublicKey = newValue } }
    }

    public var health: KeyBackendHealth {
        get { state.withLock { $0.health } }
        set { state.withLock { $0.health = newValue } }
    }

    public var proofSchedule: ProofSchedule {
        get { state.withLock { $0.proofSchedule } }
        set { state.withLock { $0.proofSchedule = newValue } }
    }

    /// If set, every attempt to open a backend throws this error.
    public var openingFault: KeyError? {
        get { state.withLock { $0.openingFault } }
        set { state.withLock { $0.openingFault = newValue } }
    }

    /// If set, every attempt to open a backend reads this secret, as a token's backend reads its PIN.
    public var secretReference: String? {
        get { state.withLock { $0.secretReference } }
        set { state.withLock { $0.secretReference = newValue } }
    }

    /// The serial number that each key reports as that of its token.
    public var tokenSerial: String? {
        get { state.withLock { $0.tokenSerial } }
        set { state.withLock { $0.tokenSerial = newValue } }
    }

    /// Whether a backend is open at this location.
    public var isOpen: Bool { state.withLock { $0.openBackends > 0 } }

    /// If set, every signature throws this error.
    public var outage: KeyError? {
        get { state.withLock { $0.outage } }
        set { state.withLock { $0.outage = newValue } }
    }

    /// Signatures of the backends that have been opened so far throw this error: as in a process that has used up its
    /// descriptors.
    public func wearOut(_ error: KeyError) {
        state.withLock { $0.wear = (error, $0.counts.openings) }
    }

    /// Each of the next signatures throws one of these errors, in order.
    public func failNext(_ faults: KeyError...) {
        state.withLock { $0.faults += faults }
    }

    /// The next `count` signatures sign another digest.
    public func corruptNext(_ count: Int = 1) {
        state.withLock { $0.corrupt += count }
    }

    // MARK: Timing

    /// Makes signatures wait until `release()`.
    ///
    /// - Parameter passes: the number of signatures that do not wait.
    public func hold(after passes: Int = 0) {
        state.withLock { ($0.isHeld, $0.passes) = (true, passes) }
    }

    public func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [:] }
            return state.held.values
        }
        for continuation in held { continuation.resume(returning: true) }
    }

    /// Waits until at least `count` signatures are in progress, or the task is cancelled.
    public func busy(with count: Int) async { await reach(count...Int.max) }

    /// Waits until no signature is in progress, or the task is cancelled.
    public func idle() async { await reach(0...0) }

    private func reach(_ inFlight: ClosedRange<Int>) async {
        let ticket = state.withLock { $0.ticket() }
        // Cancelled by a test's time limit
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if inFlight.contains(state.inFlight) || Task.isCancelled { return true }
                    state.watchers[ticket] = (inFlight, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: ticket) }?.continuation.resume()
        }
    }

    // MARK: Used by the backend

    func key(_ name: String) throws(KeyError) -> P256.Signing.PrivateKey {
        guard let key = state.withLock({ $0.keys[name] }) else { throw .notFound("There is no key \(name).") }
        return key
    }

    /// - Returns: the number of the opening.
    func noteOpening() throws(KeyError) -> Int {
        let (fault, opening) = state.withLock { state in
            state.counts.openings += 1
            return (state.openingFault, state.counts.openings)
        }
        if let fault { throw fault }
        state.withLock { $0.openBackends += 1 }
        return opening
    }

    func requireUnworn(_ opening: Int) throws(KeyError) {
        if let wear = state.withLock({ $0.wear }), opening <= wear.lastOpening { throw wear.error }
    }

    func noteClosing() {
        state.withLock { $0.openBackends -= 1 }
    }

    func sign(
        _ digest: SHA256Digest, with key: P256.Signing.PrivateKey, limit: Int
    ) async throws(KeyError) -> P256Signature {
        try begin(limit)
        defer { end() }
        guard await wait() else { throw .cancelled }
        let isCorrupt = try script()
        let signed = isCorrupt ? SHA256.hash(data: Array(digest)) : digest
        guard let raw = try? key.signature(for: signed).rawRepresentation,
            let signature = P256Signature(rawRepresentation: raw)
        else { throw .failed("The fake could not sign.") }
        return signature
    }

    private func begin(_ limit: Int) throws(KeyError) {
        let isFull = state.withLock { state in
            if state.inFlight >= limit { return true }
            state.inFlight += 1
            state.counts.signatures += 1
            Self.wake(&state)
            return false
        }
        if isFull { throw .busy }
    }

    private func end() {
        state.withLock { state in
            state.inFlight -= 1
            Self.wake(&state)
        }
    }

    private static func wake(_ state: inout State) {
        let inFlight = state.inFlight
        for (ticket, watcher) in state.watchers where watcher.inFlight.contains(inFlight) {
            state.watchers[ticket] = nil
            watcher.continuation.resume()
        }
    }

    /// - Returns: whether to sign another digest.
    private func script() throws(KeyError) -> Bool {
        let (fault, isCorrupt) = state.withLock { state -> (KeyError?, Bool) in
            if let outage = state.outage { return (outage, false) }
            if !state.faults.isEmpty { return (state.faults.removeFirst(), false) }
            guard state.corrupt > 0 else { return (nil, false) }
            state.corrupt -= 1
            return (nil, true)
        }
        if let fault { throw fault }
        return isCorrupt
    }

    /// - Returns: false if the task is cancelled.
    private func wait() async -> Bool {
        if Task.isCancelled { return false }
        let ticket = state.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    guard state.isHeld, !Task.isCancelled else { return true }
                    guard state.passes == 0 else {
                        state.passes -= 1
                        return true
                    }
                    state.held[ticket] = continuation
                    return false
                }
                if goesOn { continuation.resume(returning: !Task.isCancelled) }
            }
        } onCancel: {
            state.withLock { $0.held.removeValue(forKey: ticket) }?.resume(returning: false)
        }
    }
}
