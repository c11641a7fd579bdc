import AuditKit
import Crypto
import Encodings
import Signing
public import SigningKit
import Synchronization

/// The logins of a gateway in a fleet. One login to a token happens at a time, for 30 seconds at most, and no gateway
/// sends a PIN that the token has refused from another. Everything else is in the history of this machine.
public final class FleetLogins: LoginHistory, LoginTurns {
    private let local: any LoginHistory
    private let fleet: FleetRegister
    private let keyStates: KeyStateCache
    /// The turns of this gateway that have not ended, and the tokens that it has ever had one of.
    private let state = Mutex((turns: Set<String>(), tokens: Set<String>()))

    /// For the read of the register.
    private static let readLimit = Duration.seconds(1)
    /// For the record of a refusal.
    private static let recordLimit = Duration.seconds(2)
    /// Each token has a row in the database.
    private static let mostTokens = 256
    /// In bytes. PKCS #11 has fields of 32, 16, 16 and 32 bytes for the parts.
    private static let longestToken = 512

    public init(_ local: any LoginHistory, in fleet: FleetRegister, keyStates: KeyStateCache) {
        (self.local, self.fleet, self.keyStates) = (local, fleet, keyStates)
    }

    public func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? { try local.record(of: attempt) }

    public func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        try local.note(state, of: attempt)
    }

    public var turns: (any LoginTurns)? { self }

    // MARK: Turns

    public func begin(_ token: String, waiting: Duration?) async throws(KeyError) -> LoginTurn {
        try requirePlausible(token)
        let end = ContinuousClock.now + (waiting ?? Self.readLimit)
        guard await fleet.wait(atMost: end - .now, until: { [keyStates] _ in keyStates.isLoaded }) else {
            throw .unavailable("The PINs that other gateways of the fleet sent are not known yet, so no PIN is sent.")
        }
        let row = LoginRow(token, in: fleet)
        let id = "\(UInt64.random(in: .min ... .max))"
        while waiting != nil, let holder = try await row.take(as: id) {
            guard .now < end else {
                throw .unavailable(
                    "The gateway \(holder) is logging in to the token. This login waits, because a few wrong PINs lock a "
                        + "token.")
            }
            try? await Task.sleep(for: LoginRow.pause)
        }
        // The gateway before this one may just have recorded a refusal.
        let taken = ContinuousClock.now
        guard
            await fleet.wait(
                atMost: Self.readLimit, until: { [fleet] in $0.asked >= taken && fleet.applied >= $0.size })
        else {
            await row.release(id)
            throw .unavailable("The refused PINs of the fleet cannot be read, so no PIN is sent.")
        }
        state.withLock { _ = $0.turns.insert(id) }
        let list = RefusedPINList(fleet.unrecordedPINs + keyStates.refusedPINs, of: token, key: fleet.pinKey)
        return LoginTurn(token: token, id: id, refusedPINs: list)
    }

    /// If the refusal cannot be recorded in time, the turn lasts until its limit.
    public func end(_ turn: LoginTurn, refused: [UInt8]?) async {
        guard state.withLock({ $0.turns.remove(turn.id) }) != nil else { return }
        if let refused, refused.count == RefusedPINList.hashLength {
            let pin = RefusedPIN(refused, of: turn.token, from: fleet.gateway, at: fleet.clock.now ?? .now())
            fleet.note(pin)
            let isRecorded = await fleet.wait(atMost: Self.recordLimit) { [fleet] _ in
                !fleet.unrecordedPINs.contains(where: pin.isSame)
            }
            guard isRecorded else { return }
        }
        await LoginRow(turn.token, in: fleet).release(turn.id)
    }

    /// A faulty signer could ask about tokens without end.
    private func requirePlausible(_ token: String) throws(KeyError) {
        let isPlausible = state.withLock { state in
            guard token.utf8.count <= Self.longestToken else { return false }
            guard !state.tokens.contains(token) else { return true }
            guard state.tokens.count < Self.mostTokens else { return false }
            state.tokens.insert(token)
            return true
        }
        guard isPlausible else {
            throw .unavailable("A signer asks for a login to an impossible token, or to too many, so no PIN is sent.")
        }
    }
}

/// The row of a token in the values that the fleet shares: which login has its turn.
private struct LoginRow {
    private struct Stored: Codable {
        var gateway: String
        /// Of the turn.
        var id: String
        var until: Timestamp
    }

    /// In seconds: how long the others wait for a gateway that ended during a login.
    private static let limit: Int64 = 30
    static let pause = Duration.milliseconds(100)

    private let name: String
    private let fleet: FleetRegister

    init(_ token: String, in fleet: FleetRegister) {
        name = "login/" + Hexadecimal.encode(SHA256.hash(data: Array(token.utf8)))
        self.fleet = fleet
    }

    /// - Returns: the gateway whose login has the turn; nil if this one has it now.
    func take(as id: String) async throws(KeyError) -> String? {
        let own = fleet.gateway
        let answer = await fleet.change(name) { (stored: Stored?, now) -> (Stored, String?) in
            let limit = now.later(by: Self.limit)
            if let stored, stored.id != id, now < stored.until, stored.until <= limit {
                return (stored, stored.gateway)
            }
            return (Stored(gateway: own, id: id, until: limit), nil)
        }
        guard let holder = answer else {
            throw .unavailable("The database of the fleet does not answer, so no PIN is sent.")
        }
        return holder
    }

    func release(_ id: String) async {
        let own = fleet.gateway
        _ = await fleet.change(name) { (stored: Stored?, now) -> (Stored, Void) in
            if let stored, stored.id != id { return (stored, ()) }
            return (Stored(gateway: own, id: id, until: now), ())
        }
    }
}
