import AuditLog
import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// The conditions of a drill, from the command line.
struct DrillConditions: Sendable {
    let scenario: DrillScenario
    let isPlanned: Bool
    let participants: [DrillRecord.Participant]
    let load: LoadSettings
    /// Seconds for which the old key still signs requests that name it.
    let overlap: Int
    /// The time limit for actions of a person.
    let timeout: Duration
    /// Prints a line for the operator.
    let say: @Sendable (String) -> Void
}

/// The gateway of a scenario, its administrators, and the load.
struct DrillEnvironment: Sendable {
    let conditions: DrillConditions
    /// The account, and an app of it that has both forms of promotional offers.
    let issuerID: String
    let bundleID: String
    /// The staged key to activate; nil for a scenario without one.
    let replacement: String?
    /// Has the rights of an administrator.
    let admin: AdminClient
    /// Has the rights of a client that may only request signatures; nil if none is known.
    let outsider: AdminClient?
    /// Nil for a given gateway.
    let throwAway: TemporaryGateway?
    let target: LoadTarget
    let load: LoadDriver

    /// - Parameter target: the caller closes it after the drill.
    init(
        _ conditions: DrillConditions, issuerID: String, bundleID: String, replacement: String?, admin: AdminClient,
        outsider: AdminClient?, throwAway: TemporaryGateway? = nil, target: LoadTarget
    ) {
        self.conditions = conditions
        (self.issuerID, self.bundleID, self.replacement) = (issuerID, bundleID, replacement)
        (self.admin, self.outsider, self.throwAway) = (admin, outsider, throwAway)
        self.target = target
        load = LoadDriver(
            conditions.load, to: target,
            requests: [.token, .legacy].map { Self.request($0, bundleID) }, clock: ClockMonitor.systemTime)
    }

    /// The time limit for events that need no person.
    static let eventLimit = Duration.seconds(20)
    /// The time limit for finding a token again: the gateway restarts a module at most twice a minute.
    static let moduleLimit = Duration.seconds(90)
    /// How long a token is away. If its directory returns at once, SoftHSM has the token without its objects until a
    /// process writes to it.
    static let absence = Duration.seconds(5)
    /// Load before the first and after the last step, so that a record shows both.
    static let baselineDuration = Duration.seconds(2)

    var lifecycleClient: RemoteKeyLifecycleClient { RemoteKeyLifecycleClient(admin) }
    var overlap: Int { conditions.overlap }

    // MARK: Requests

    private static func request(_ form: LoadRequest.Form, _ bundleID: String) -> LoadRequest {
        LoadRequest(form, bundleID: bundleID, productID: "com.example.drill.monthly", offerID: "drill")
    }

    /// Sends a request that is not part of the load.
    func probe(_ form: LoadRequest.Form) async -> (answer: LoadAnswer, body: [UInt8]) {
        await load.probe(Self.request(form, bundleID))
    }

    /// The first matching answer of the load; nil if there is none within `limit`.
    func answer(
        within limit: Duration = eventLimit, where matches: (LoadAnswer) -> Bool
    ) async -> LoadAnswer? {
        await load.first(within: limit, where: matches)
    }

    /// Requests signatures with the scenario's keys by name before any change. Later, a refusal of a client that may
    /// not name a key would say nothing about the key.
    ///
    /// - Throws: `DrillError`, if the active key does not sign, or the staged key is refused for another reason than
    ///   its state.
    func checkNames() async throws {
        // The client of a temporary gateway may name every key.
        guard throwAway == nil else { return }
        func check(_ keyID: String, _ wanted: String, _ isFit: ((LoadAnswer, [UInt8])) -> Bool) async throws {
            let answer = await probe(.named(keyID: keyID))
            guard !isFit(answer) else { return }
            throw DrillError(
                "The drill was not begun: a request that names the key \(keyID) had an unexpected result. "
                    + "\(Refusal.text(answer)) \(wanted) The drill's client needs a rule with keyIds for both keys, "
                    + "and the app both forms of promotional offers.")
        }
        if conditions.scenario.namesActiveKey {
            let active = try await activeKey()
            try await check(active, "It has to be signed.") { $0.0.keyID == active }
        }
        if conditions.scenario.needsReplacement {
            try await check(try replacementKey(), "It has to be refused because that key is not in use.") {
                Refusal.of($0, as: .keyNotInUse).isAsExpected
            }
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

    func replacementKey() throws -> String {
        guard let replacement else {
            throw DrillError(
                "This scenario needs a staged key to activate: name it with --new KEY, or use --throw-away.")
        }
        return replacement
    }

    func change(_ order: KeyChangeOrder) async throws -> [KeyLifecycleRecord] {
        switch try await lifecycleClient.change(order) {
        case .done(let records): return records
        case .proposed(let proposal):
            throw DrillError(
                "The account requires two administrators; this order is now the proposal \(proposal.id). Have it "
                    + "approved, and rehearse with an account without dualControl.")
        case .begun, .waiting, .ended: return []
        }
    }

    // MARK: Waiting

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
