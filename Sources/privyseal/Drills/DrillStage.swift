import Crypto
import KeyDrills
import SigningGateway
import SigningKit

/// What a scenario works on: a gateway, those who may change its keys, and load that runs meanwhile.
struct DrillStage: Sendable {
    /// The account's issuer ID, and an app of it that has both forms of promotional offers.
    let issuerID: String
    let bundleID: String
    /// The key that takes over; nil for a scenario that wants none.
    let replacement: String?
    /// For how long the old key still answers by name, in seconds.
    let overlap: Int
    /// An administrator.
    let desk: any KeyDesk
    /// A client that may have signatures and nothing else; nil where none is known.
    let outsider: (any KeyDesk)?
    let admin: AdminClient
    let load: LoadDriver
    /// Nil for a gateway that was given.
    let throwAway: ThrowAwayGateway?
    /// How long a person has for what only a person can do.
    let patience: Duration
    /// Tells a person what to do.
    let ask: @Sendable (String) -> Void

    /// How long an event may take that needs no person.
    static let eventLimit = Duration.seconds(20)
    /// How long a gateway may take to find a token again: it starts a module anew twice a minute at most.
    static let tokenLimit = Duration.seconds(90)
    /// How long a token is away. A directory that is back within a moment is no token that somebody pulled: SoftHSM then has
    /// the token without its objects, until somebody writes to it.
    static let absence = Duration.seconds(5)
    /// Of load before anything is done, and after everything, so that a record shows both.
    static let calm = Duration.seconds(2)

    // MARK: Requests

    func request(_ form: LoadRequest.Form) -> LoadRequest {
        LoadRequest(form, bundleID: bundleID, productID: "com.example.drill.monthly", offerID: "drill")
    }

    /// What the load consists of.
    static func requests(bundleID: String) -> [LoadRequest] {
        [LoadRequest.Form.token, .legacy].map {
            LoadRequest($0, bundleID: bundleID, productID: "com.example.drill.monthly", offerID: "drill")
        }
    }

    // MARK: Keys

    func account() async throws -> KeyLifeOverview.Account {
        guard let account = try await desk.overview().accounts.first(where: { $0.issuerID == issuerID }) else {
            throw DrillError("The gateway has no account \(issuerID).")
        }
        return account
    }

    func key(_ keyID: String) async throws -> KeyLifeOverview.Key {
        guard let key = try await account().keys.first(where: { $0.life.keyID == keyID }) else {
            throw DrillError("The account \(issuerID) has no key \(keyID).")
        }
        return key
    }

    func activeKey() async throws -> String {
        guard let key = try await account().keys.first(where: { $0.life.state == .active }) else {
            throw DrillError("The account \(issuerID) has no active key.")
        }
        return key.life.keyID
    }

    func change(_ order: KeyChangeOrder) async throws -> [KeyLifeRecord] {
        switch try await desk.change(order) {
        case .done(let records): return records
        case .proposed(let proposal):
            throw DrillError(
                "The account wants two administrators, and this order is now the proposal \(proposal.id); have it approved, "
                    + "and rehearse with an account without dualControl.")
        }
    }

    /// Polls what has no event of its own.
    func wait(_ limit: Duration, until isSo: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if try await isSo() { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await isSo()
    }
}
