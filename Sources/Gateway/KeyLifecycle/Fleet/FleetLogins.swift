import AuditKit
import Crypto
import Encodings
public import SigningKit
import StrictJSON
import Synchronization

/// The logins of a gateway in a fleet. One gateway at a time logs in to a token, and none sends a PIN that the token has
/// refused from another. Everything else is in the history of this machine.
public final class FleetLogins: LoginHistory {
    private let local: any LoginHistory
    private let fleet: FleetRegister
    private let keyStates: KeyStateCache

    /// For one question. A backend asks again after a pause.
    private static let limit = Duration.seconds(2)

    public init(_ local: any LoginHistory, in fleet: FleetRegister, keyStates: KeyStateCache) {
        (self.local, self.fleet, self.keyStates) = (local, fleet, keyStates)
    }

    public func record(of attempt: LoginAttempt) throws(KeyError) -> LoginRecord? { try local.record(of: attempt) }

    public func note(_ state: LoginRecord.State, of attempt: LoginAttempt) throws(KeyError) {
        try local.note(state, of: attempt)
    }

    public func beginTurn(_ token: String) throws(KeyError) -> RefusedPINList? {
        try Semaphore.wait { () async throws(KeyError) in try await self.begin(token) }
    }

    public func endTurn(_ token: String, refused: [UInt8]?) throws(KeyError) {
        try Semaphore.wait { () async throws(KeyError) in await self.end(token, refused: refused) }
    }

    // MARK: Turns

    private func begin(_ token: String) async throws(KeyError) -> RefusedPINList {
        let end = ContinuousClock.now + Self.limit
        guard await fleet.wait(atMost: Self.limit, until: { [keyStates] _ in keyStates.isLoaded }) else {
            throw .unavailable("The PINs that other gateways of the fleet sent are not known yet, so no PIN is sent.")
        }
        let turn = LoginTurn(token, in: fleet)
        while let holder = try await turn.take() {
            guard .now < end else {
                throw .unavailable(
                    "The gateway \(holder) is logging in to the token. This one waits, because a few wrong PINs lock a token."
                )
            }
            try? await Task.sleep(for: LoginTurn.pause)
        }
        // The gateway before this one may just have recorded a refusal.
        let taken = ContinuousClock.now
        guard await fleet.wait(atMost: end - taken, until: { [fleet] in $0.asked >= taken && fleet.applied >= $0.size })
        else {
            await turn.end()
            throw .unavailable("The refused PINs of the fleet cannot be read, so no PIN is sent.")
        }
        let refused = keyStates.refusedPINs + fleet.unrecordedPINs
        return RefusedPINList(refused, of: token, key: fleet.pinKey)
    }

    /// If the refusal cannot be recorded, the turn lasts until its limit.
    private func end(_ token: String, refused: [UInt8]?) async {
        if let refused {
            fleet.note(RefusedPIN(refused, of: token, from: fleet.gateway, at: fleet.clock.now ?? .now()))
            let isRecorded = await fleet.wait(atMost: Self.limit) { [fleet] _ in fleet.unrecordedPINs.isEmpty }
            guard isRecorded else { return }
        }
        await LoginTurn(token, in: fleet).end()
    }
}

/// The gateway that logs in to a token now, as a value that the fleet shares.
private struct LoginTurn {
    private struct Stored: Codable {
        var gateway: String
        var until: Timestamp

        private enum CodingKeys: String, CodingKey {
            case gateway, until
        }
    }

    /// In seconds: how long the others wait for a gateway that does not end its turn.
    private static let limit: Int64 = 30
    static let pause = Duration.milliseconds(50)

    private let name: String
    private let fleet: FleetRegister

    /// - Parameter token: see `LoginAttempt`.
    init(_ token: String, in fleet: FleetRegister) {
        name = "login/" + Hexadecimal.encode(SHA256.hash(data: Array(token.utf8)))
        self.fleet = fleet
    }

    /// - Returns: the gateway that has the turn; nil if this one has it now.
    func take() async throws(KeyError) -> String? {
        let holder = Mutex<String?>(nil)
        let own = fleet.gateway
        let isAnswered = await fleet.update(name) { value, now in
            let limit = now.later(by: Self.limit)
            if let value, let stored = Self.stored(value), stored.gateway != own, now < stored.until,
                stored.until <= limit
            {
                holder.withLock { $0 = stored.gateway }
                return value
            }
            holder.withLock { $0 = nil }
            return JSONText.encode(Stored(gateway: own, until: limit))
        }
        guard isAnswered else {
            throw .unavailable("The database of the fleet does not answer, so no PIN is sent.")
        }
        return holder.withLock { $0 }
    }

    func end() async {
        let own = fleet.gateway
        _ = await fleet.update(name) { value, now in
            if let value, let stored = Self.stored(value), stored.gateway != own { return value }
            return JSONText.encode(Stored(gateway: own, until: now))
        }
    }

    private static func stored(_ bytes: [UInt8]) -> Stored? {
        try? JSONDocument(parsing: bytes).root.decode(Stored.self)
    }
}
