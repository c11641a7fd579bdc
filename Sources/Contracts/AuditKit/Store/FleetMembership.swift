public import SigningKit

/// A gateway's place among those of its fleet: a lease that it renews, and what it tells the others. It is not part of a
/// log, because it changes every second. Calls block as in `AuditStore`. For one thread at a time.
public protocol FleetMembership: AnyObject, Sendable {
    /// Renews the lease, and tells the others what this gateway has read. The first call acquires the lease; every
    /// later one only renews it.
    ///
    /// - Throws: `.fenced` if the log of this gateway has another epoch by now.
    func renew(_ report: FleetReport) throws(AuditStoreError) -> FleetView

    /// Replaces a value that the fleet shares. Changes of one value come one after the other. Unlike an entry, a change may
    /// be lost with the server.
    ///
    /// - Parameter change: from the value, nil at first, and the database's time, to the new value.
    func update(
        _ name: String, _ change: ([UInt8]?, Timestamp) -> [UInt8]
    ) throws(AuditStoreError)

    /// Ends the lease. The others no longer wait for this gateway.
    func leave() throws(AuditStoreError)

    /// Prevents a gateway from writing: its log gets the next epoch. It does nothing if that has happened already.
    ///
    /// - Parameter epoch: the epoch of the gateway's log when an administrator gave the order.
    func fence(_ origin: String, epoch: Int) throws(AuditStoreError)

    func close()
}

/// What a gateway tells the others.
public struct FleetReport: Hashable, Sendable {
    /// The number of entries of the fleet's log whose key states the gateway uses.
    public var applied: Int
    /// The gateway's answer to the activation of a key, as JSON; empty for none.
    public var answer: String

    public init(applied: Int, answer: String = "") {
        self.applied = applied
        self.answer = answer
    }
}

/// The fleet as the database has it.
public struct FleetView: Sendable {
    /// The database's clock. It was read between `asked` and `answered`.
    public let time: Timestamp
    public let asked: ContinuousClock.Instant
    public let answered: ContinuousClock.Instant
    /// The number of entries of the fleet's log.
    public let size: Int
    /// The gateways that renewed their leases in the last day, sorted by origin.
    public let members: [FleetMember]

    public init(
        time: Timestamp, asked: ContinuousClock.Instant, answered: ContinuousClock.Instant, size: Int,
        members: [FleetMember]
    ) {
        self.time = time
        self.asked = asked
        self.answered = answered
        self.size = size
        self.members = members
    }
}

/// A gateway of a fleet.
public struct FleetMember: Hashable, Sendable {
    /// The name of its log.
    public let origin: String
    /// The epoch of its log in which it acquired the lease.
    public let epoch: Int
    /// When it last renewed its lease, by the database's clock.
    public let renewed: Timestamp
    /// Whether it ended its lease, or was fenced. The others do not wait for it.
    public let isGone: Bool
    public let report: FleetReport

    public init(origin: String, epoch: Int, renewed: Timestamp, isGone: Bool, report: FleetReport) {
        self.origin = origin
        self.epoch = epoch
        self.renewed = renewed
        self.isGone = isGone
        self.report = report
    }
}
