import AuditKit
import SigningKit
import StrictJSON
import Synchronization

/// What the register says of every key, in memory, and what follows from it for requests.
///
/// The configuration declares keys, the register holds their states. A key that is declared and has no state is adopted: in
/// an account that has none at all, the configuration's active key is active and the others are retiring; a key that comes later
/// is staged.
public final class KeyBoard: Sendable {
    fileprivate struct State {
        var records: [String: KeyLifeRecord] = [:]
        var proposals: [KeyProposal] = []
        var ceremonies: [KeyCeremony] = []
        var accounts: [AccountPlan] = []
        var served: [String: AccountKeys] = [:]
        /// Keys that are stopped, whatever the register says yet.
        var held: [String: KeyLifeState] = [:]
        var isLoaded = false
    }

    private let state = Mutex(State())

    // MARK: What is known

    func account(_ issuerID: String) -> AccountKeys {
        state.withLock { state in
            if let known = state.served[issuerID] { return known }
            let account = AccountKeys()
            state.served[issuerID] = account
            return account
        }
    }

    /// By key ID; those that were adopted and are not recorded yet are there too.
    public var records: [String: KeyLifeRecord] { state.withLock { $0.records } }
    var proposals: [KeyProposal] { state.withLock { $0.proposals } }
    var ceremonies: [KeyCeremony] { state.withLock { $0.ceremonies } }
    var accounts: [AccountPlan] { state.withLock { $0.accounts } }

    var held: [String: KeyLifeState] { state.withLock { $0.held } }

    // MARK: Keys that are stopped

    /// From the next request on, until `release`.
    func hold(_ keyID: String, as heldState: KeyLifeState) {
        state.withLock { state in
            state.held[keyID] = heldState
            state.publish()
        }
    }

    func release(_ keyID: String) {
        state.withLock { state in
            state.held[keyID] = nil
            state.publish()
        }
    }

    // MARK: Where it comes from

    /// What is registered, whenever the log is opened.
    func load(_ registers: [String: AuditRegister], at time: Timestamp) throws(JSONReadError) {
        var (records, proposals, ceremonies) = ([String: KeyLifeRecord](), [KeyProposal](), [KeyCeremony]())
        for register in registers.values {
            let root: JSONValue
            do throws(JSONSyntaxError) { root = try JSONDocument(parsing: register.value).root } catch {
                throw JSONReadError(.invalid("is not JSON"), at: register.name)
            }
            do throws(JSONReadError) {
                switch register.name {
                case RegisterName.proposals: proposals = try root.elements(KeyProposal.init(from:))
                case RegisterName.ceremonies: ceremonies = try root.elements(KeyCeremony.init(from:))
                default:
                    let record = try KeyLifeRecord(from: root)
                    records[record.keyID] = record
                }
            } catch {
                throw error.inside(register.name)
            }
        }
        state.withLock { state in
            (state.records, state.proposals, state.ceremonies) = (records, proposals, ceremonies)
            state.isLoaded = true
            state.adopt(at: time)
            state.publish()
        }
    }

    /// The accounts of the configuration that serves.
    func declare(_ accounts: [AccountPlan], at time: Timestamp) {
        state.withLock { state in
            state.accounts = accounts
            guard state.isLoaded else { return }
            state.adopt(at: time)
            state.publish()
        }
    }

    /// After the register holds them.
    func set(
        _ records: [KeyLifeRecord] = [], proposals: [KeyProposal]? = nil, ceremonies: [KeyCeremony]? = nil
    ) {
        state.withLock { state in
            for record in records { state.records[record.keyID] = record }
            if let proposals { state.proposals = proposals }
            if let ceremonies { state.ceremonies = ceremonies }
            state.publish()
        }
    }
}

extension KeyBoard.State {
    fileprivate mutating func adopt(at time: Timestamp) {
        for account in accounts {
            let isNew = !records.values.contains { $0.issuerID == account.issuerID }
            for key in account.keys where records[key.keyID] == nil {
                let state: KeyLifeState =
                    isNew ? key.keyID == account.activeKeyID ? .active : .retiring : .staged
                let change = KeyLifeChange(
                    time: time, action: .adopt, from: nil, to: state, actor: "gateway",
                    reason: isNew ? "It was configured when the register began." : "The configuration names it since.")
                records[key.keyID] = KeyLifeRecord(
                    issuerID: account.issuerID, keyID: key.keyID, state: state, since: time, provenance: .unknown,
                    history: [change])
            }
        }
    }

    /// What requests see.
    fileprivate mutating func publish() {
        for issuerID in Set(accounts.map(\.issuerID)) {
            let own = records.values.filter { $0.issuerID == issuerID }
            let keys = Dictionary(
                own.map { ($0.keyID, AccountKeys.Key(state: held[$0.keyID] ?? $0.state, retireAt: $0.retireAt)) },
                uniquingKeysWith: { first, _ in first })
            let account = served[issuerID] ?? AccountKeys()
            served[issuerID] = account
            account.set(active: own.first { $0.state == .active && held[$0.keyID] == nil }?.keyID, keys: keys)
        }
    }
}

/// Under which names the register holds what.
enum RegisterName {
    static let proposals = "proposals"
    static let ceremonies = "ceremonies"

    static func key(_ keyID: String) -> String { "key/\(keyID)" }
}
