import AuditKit
public import AuditLog
public import Crypto
import Dispatch
public import Signing
public import SigningKit
import Synchronization

/// This gateway's connection to the others of its fleet: its lease, what it tells them, and what it has read of them.
public final class FleetRegister: Sendable {
    private struct State {
        var membership: (any FleetMembership)?
        var view: FleetView?
        var applied = 0
        var answers: [FleetAnswer] = []
        /// Calls that wait for other gateways.
        var waiters = 0
        var isFenced = false
        /// The refused PINs that this gateway must still record.
        var unrecordedPINs: [RefusedPIN] = []
        /// What this gateway has seen of each lease, by origin, and since when. It does not depend on the database's clock.
        var leases: [String: (epoch: Int, renewed: Timestamp, since: ContinuousClock.Instant)] = [:]

        mutating func note(_ view: FleetView) {
            self.view = view
            let old = leases
            leases = [:]
            for member in view.members {
                let known = old[member.origin]
                let isKnown = known?.epoch == member.epoch && known?.renewed == member.renewed
                let since = isKnown ? known?.since : nil
                leases[member.origin] = (member.epoch, member.renewed, since ?? view.asked)
            }
        }
    }

    /// The time between two reads.
    private static let interval = Duration.milliseconds(250)
    /// The same while a change waits for gateways.
    private static let shortInterval = Duration.milliseconds(25)
    /// A gateway may read the register for the last time some time after it renewed its lease for the last time.
    private static let leaseMargin = Duration.seconds(2)

    /// The origin of this gateway's log.
    public let gateway: String
    /// The origin of the fleet's log.
    public let fleet: String
    /// How long a lease is valid without a renewal. A gateway that cannot renew it stops signing in this time.
    public let staleness: Duration
    private let log: AuditLog
    private let freshness: RegisterFreshness
    private let secret: SymmetricKey
    /// Of the hashes of refused PINs, see `RefusedPINList`.
    let pinKey: SymmetricKey
    let clock: FleetClock
    /// The end of a pause between two reads.
    let wake = AsyncSignal()
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "privyseal.fleet")
    private let fencing = DispatchQueue(label: "privyseal.fencing")
    private let sharing = DispatchQueue(label: "privyseal.sharing")

    /// - Parameters:
    ///   - log: this gateway's log, whose store has the fleet's table.
    ///   - freshness: the same as of `log`.
    ///   - keyStates: the states of the fleet's keys.
    ///   - secret: 256 bits that only the fleet's gateways have.
    ///   - pinKey: the same for the hashes of refused PINs.
    public init(
        gateway: String, fleet: String, staleness: Duration, log: AuditLog, freshness: RegisterFreshness,
        keyStates: KeyStateCache, secret: SymmetricKey, pinKey: SymmetricKey
    ) {
        self.secret = secret
        self.pinKey = pinKey
        (self.gateway, self.fleet, self.staleness) = (gateway, fleet, staleness)
        clock = keyStates.fleetClock ?? FleetClock()
        (self.log, self.freshness) = (log, freshness)
    }

    /// The registers of this gateway's log, from the time before it belonged to the fleet.
    var ownRegisters: [String: AuditRegister] { log.registers }

    // MARK: Reading

    /// The fleet at the last read; nil before the first.
    var view: FleetView? { state.withLock { $0.view } }

    var isFenced: Bool { state.withLock { $0.isFenced } }

    /// The gateways that others wait for: those that this gateway has seen renew their leases recently.
    var live: [FleetMember] {
        let limit = staleness + Self.leaseMargin
        return state.withLock { state in
            state.view?.members.filter { member in
                !member.isGone && state.leases[member.origin].map { .now - $0.since <= limit } == true
            } ?? []
        }
    }

    /// How many gateways of the fleet are live, silent (a fenced one is) or have left, and when the fleet was last read;
    /// nil before that.
    public var census: (live: Int, silent: Int, left: Int, age: Duration)? {
        guard let view else { return nil }
        let (live, left) = (live.count, view.members.count(where: \.isGone))
        return (live, view.members.count - live - left, left, .now - view.asked)
    }

    /// Whether the fleet was read in the last second.
    var isCurrent: Bool { view.map { .now - $0.asked < .seconds(1) } ?? false }

    /// Renews the lease and reads those of the others.
    func renew() async throws(AuditStoreError) -> FleetView {
        do throws(AuditStoreError) {
            let view = try await queue.call { () throws(AuditStoreError) in try self.renewNow() }
            clock.note(view)
            state.withLock { $0.note(view) }
            return view
        } catch {
            if case .fenced = error { state.withLock { $0.isFenced = true } }
            freshness.note(failure: error.description)
            throw error
        }
    }

    private func renewNow() throws(AuditStoreError) -> FleetView {
        let (open, report) = state.withLock { state in
            (state.membership, FleetReport(applied: state.applied, answer: state.answers.text))
        }
        if let open { return try open.renew(report) }
        let membership = try log.membership(in: fleet)
        state.withLock { $0.membership = membership }
        return try membership.renew(report)
    }

    // MARK: Telling

    /// The number of entries of the fleet's log whose key states this gateway uses.
    var applied: Int { state.withLock { $0.applied } }

    /// - Parameters:
    ///   - size: the number of entries whose key states are in use now.
    ///   - begun: before the read that showed no later entry began.
    func note(applied size: Int, readAt begun: ContinuousClock.Instant, isChanging: Bool) {
        state.withLock { $0.applied = size }
        clock.noteServing()
        freshness.note(readAt: begun, isChanging: isChanging)
    }

    /// This gateway's answer to an activation; nil if it has not answered yet.
    func answer(to activation: FleetActivation) -> FleetAnswer? {
        state.withLock { state in state.answers.first { $0.activation == activation.id } }
    }

    /// Replaces an earlier answer to the same activation.
    func answer(_ answer: FleetAnswer) {
        state.withLock { state in
            state.answers.removeAll { $0.activation == answer.activation }
            state.answers.append(answer)
        }
        wake.signal()
    }

    /// Shortens the time for which this gateway signs without reading the register.
    func beginChange() { freshness.beginChange() }

    /// Forgets the answers to activations that are no longer open.
    func keepAnswers(to open: [FleetActivation]) {
        state.withLock { state in
            state.answers.removeAll { answer in !open.contains { $0.id == answer.activation } }
        }
    }

    // MARK: Refused PINs

    var unrecordedPINs: [RefusedPIN] { state.withLock { $0.unrecordedPINs } }

    func note(_ pin: RefusedPIN) {
        state.withLock { state in
            if !state.unrecordedPINs.contains(where: pin.isSame) { state.unrecordedPINs.append(pin) }
        }
        wake.signal()
    }

    func noteRecorded(_ pin: RefusedPIN) {
        state.withLock { $0.unrecordedPINs.removeAll(where: pin.isSame) }
    }

    // MARK: Waiting

    var pause: Duration { state.withLock { $0.waiters > 0 } ? Self.shortInterval : Self.interval }

    static var changePause: Duration { shortInterval }

    /// Waits until `isDone` for the fleet as it is then.
    ///
    /// - Returns: false after `limit`.
    func wait(atMost limit: Duration, until isDone: (FleetView) -> Bool) async -> Bool {
        state.withLock { $0.waiters += 1 }
        defer { state.withLock { $0.waiters -= 1 } }
        wake.signal()
        let end = ContinuousClock.now + limit
        // Polls, because a gateway stops being live by time alone, without a new read.
        while true {
            if let view, isDone(view) { return true }
            guard .now < end, !Task.isCancelled else { return false }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Waits for a moment until every live gateway uses key states of at least `size` entries.
    func confirmation(of size: Int) async -> FleetConfirmation {
        _ = await wait(atMost: .seconds(3)) { _ in live.allSatisfy { $0.report.applied >= size } }
        let gateways = live
        return FleetConfirmation(
            confirmed: gateways.filter { $0.report.applied >= size }.map(\.origin),
            missing: gateways.filter { $0.report.applied < size }.map(\.origin))
    }

    // MARK: Fencing and leaving

    func fence(_ gateway: FencedGateway) async throws(AuditStoreError) {
        guard let membership = state.withLock({ $0.membership }) else { return }
        try await fencing.call { () throws(AuditStoreError) in
            try membership.fence(gateway.origin, epoch: gateway.epoch)
        }
    }

    /// Ends the lease, so that the others do not wait for this gateway. It signs nothing any more.
    func leave() async {
        freshness.revoke()
        let membership = state.withLock { $0.membership }
        await queue.call {
            try? membership?.leave()
            membership?.close()
        }
    }
}

extension FleetRegister: SharedValues {
    public func update(
        _ name: String, _ change: @escaping @Sendable ([UInt8]?, Timestamp) -> [UInt8]
    ) async -> Bool {
        guard let membership = state.withLock({ $0.membership }) else { return false }
        do throws(AuditStoreError) {
            try await sharing.call { () throws(AuditStoreError) in try membership.update(name, change) }
            return true
        } catch {
            return false
        }
    }

    // AES-256-GCM with the name as associated data (NIST SP 800-38D).

    public func seal(_ secret: [UInt8], as name: String) -> [UInt8]? {
        (try? AES.GCM.seal(secret, using: self.secret, authenticating: Array(name.utf8)).combined).map { Array($0) }
    }

    public func open(_ sealed: [UInt8], as name: String) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
        return (try? AES.GCM.open(box, using: secret, authenticating: Array(name.utf8))).map { Array($0) }
    }
}
