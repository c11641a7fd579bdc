import Crypto
import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// The gateway of a scenario, its administrators, and the load.
struct DrillEnvironment: Sendable {
    /// The account, and an app of it that has both forms of promotional offers.
    let issuerID: String
    let bundleID: String
    /// The staged key to activate; nil for a scenario without one.
    let replacement: String?
    /// Seconds for which the old key still signs requests that name it.
    let overlap: Int
    /// Has the rights of an administrator.
    let lifecycleClient: any KeyLifecycleClient
    /// Has the rights of a client that may only request signatures; nil if none is known.
    let outsider: (any KeyLifecycleClient)?
    let admin: AdminClient
    let load: LoadDriver
    /// Nil for a given gateway.
    let throwAway: TemporaryGateway?
    /// The time limit for actions of a person.
    let timeout: Duration
    /// Prints an instruction for a person.
    let ask: @Sendable (String) -> Void

    /// The time limit for events that need no person.
    static let eventLimit = Duration.seconds(20)
    /// The time limit for finding a token again: the gateway restarts a module at most twice a minute.
    static let tokenLimit = Duration.seconds(90)
    /// How long a token is away. If its directory returns at once, SoftHSM has the token without its objects until a
    /// process writes to it.
    static let absence = Duration.seconds(5)
    /// Load before the first and after the last step, so that a record shows both.
    static let baselineDuration = Duration.seconds(2)

    // MARK: Requests

    func request(_ form: LoadRequest.Form) -> LoadRequest {
        LoadRequest(form, bundleID: bundleID, productID: "com.example.drill.monthly", offerID: "drill")
    }

    static func requests(bundleID: String) -> [LoadRequest] {
        [LoadRequest.Form.token, .legacy].map {
            LoadRequest($0, bundleID: bundleID, productID: "com.example.drill.monthly", offerID: "drill")
        }
    }

    // MARK: Keys

    func account() async throws -> KeyLifecycleOverview.Account {
        guard let account = try await lifecycleClient.overview().accounts.first(where: { $0.issuerID == issuerID })
        else {
            throw DrillError("The gateway has no account \(issuerID).")
        }
        return account
    }

    func key(_ keyID: String) async throws -> KeyLifecycleOverview.Key {
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

    func change(_ order: KeyChangeOrder) async throws -> [KeyLifecycleRecord] {
        switch try await lifecycleClient.change(order) {
        case .done(let records): return records
        case .proposed(let proposal):
            throw DrillError(
                "The account requires two administrators; this order is now the proposal \(proposal.id). Have it "
                    + "approved, and rehearse with an account without dualControl.")
        }
    }

    /// The first matching answer of the load; nil if there is none within `limit`.
    func answer(
        within limit: Duration = eventLimit, where matches: @escaping @Sendable (LoadAnswer) -> Bool
    ) async -> LoadAnswer? {
        await load.results.first(within: limit, where: matches)
    }

    /// Whether `/readyz` returns this status within the time limit.
    func waitForReadiness(_ status: Int) async throws -> Bool {
        try await wait(Self.eventLimit) { await load.readiness() == status }
    }

    /// Polls a condition that has no event.
    func wait(_ limit: Duration, until isSo: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if try await isSo() { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await isSo()
    }
}
