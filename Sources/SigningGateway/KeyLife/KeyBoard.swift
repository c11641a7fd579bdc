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
        var persons = ConfiguredPersons([])
        var served: [String: AccountKeys] = [:]
        var holds = KeyHolds()
        var deadlineOffsets = DeadlineOffsets()
        /// The fingerprints of keys that are compromised or destroyed.
        var lost: Set<PublicKeyFingerprint> = []
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

    /// Whether two administrators are wanted for what gives a key of the account power or takes it for good. An account that is no
    /// longer configured wants two if any other account does: nothing tells what it wanted itself.
    func wantsTwo(_ issuerID: String) -> Bool {
        counted(issuerID).contains(where: \.hasDualControl)
    }

    /// Whether `operator` counts as an administrator in the account.
    func countsOperator(_ issuerID: String) -> Bool {
        counted(issuerID).allSatisfy { !$0.hasDualControl || $0.countsOperator }
    }

    private func counted(_ issuerID: String) -> [AccountPlan] {
        let accounts = accounts
        let own = accounts.filter { $0.issuerID.hasSameBytes(as: issuerID) }
        return own.isEmpty ? accounts : own
    }

    /// Whether a signature of the key proves anything: not once another person may have made it. The records of all accounts and
    /// of all IDs with this fingerprint count. Without a record nothing is known of the key.
    func isTrustworthy(_ keyID: String, _ fingerprint: PublicKeyFingerprint?) -> Bool {
        state.withLock { state in
            guard let record = state.records[keyID], !record.isLost, state.holds.states[keyID] != .compromised else {
                return false
            }
            return !(fingerprint.map(state.lost.contains) ?? false)
        }
    }

    /// The keys that are stopped without regard to the register, and the most severe stop of each.
    var held: [String: KeyLifeState] { state.withLock { $0.holds.states } }

    /// Whether the states in the register are known. They are not until the audit log has been opened.
    var isLoaded: Bool { state.withLock { $0.isLoaded } }

    // MARK: Deadlines

    /// Has to come before the transaction that records the deadlines of the records and proposals.
    ///
    /// - Parameter offset: `ClockMonitor.stepped`, read when the deadlines were set.
    func noteDeadlines(_ records: [KeyLifeRecord] = [], _ proposals: [KeyProposal] = [], at offset: Int64) {
        state.withLock { state in
            // A deadline that another process set has no offset, also when its record is written again.
            let changed = records.filter { state.records[$0.keyID]?.retireAt != $0.retireAt }
            state.deadlineOffsets.note(changed, proposals, at: offset)
        }
    }

    /// When a retiring key retires; nil where it has no such time.
    func deadline(of record: KeyLifeRecord) -> Deadline? {
        guard record.state == .retiring || record.suspendedFrom == .retiring else { return nil }
        return state.withLock { $0.deadlineOffsets.deadline(of: record) }
    }

    /// When a proposal expires.
    func deadline(of proposal: KeyProposal) -> Deadline {
        state.withLock { $0.deadlineOffsets.deadline(of: proposal) }
    }

    // MARK: Keys that are stopped

    /// Stops the key from the next request on.
    ///
    /// - Returns: the number of the hold, for `release`.
    func hold(_ keyID: String, as heldState: KeyLifeState) -> Int {
        state.withLock { state in
            defer { state.publish() }
            return state.holds.add(keyID, as: heldState)
        }
    }

    /// Ends holds. A key may sign again when it has none left and the register allows it.
    func release(_ holds: [Int]) {
        state.withLock { state in
            for hold in holds { state.holds.remove(hold) }
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
                case RegisterName.proposals: proposals += try root.elements(KeyProposal.init(from:))
                case let name where RegisterName.slot(of: name) != nil:
                    guard root.kind != .null else { continue }
                    var proposal = try KeyProposal(from: root)
                    proposal.slot = RegisterName.slot(of: name)
                    proposals.append(proposal)
                case RegisterName.ceremonies: ceremonies = try root.elements(KeyCeremony.init(from:))
                default:
                    let record = try KeyLifeRecord(from: root)
                    records[record.keyID] = record
                }
            } catch {
                throw error.inside(register.name)
            }
        }
        proposals.sort { ($0.proposed, $0.id) < ($1.proposed, $1.id) }
        state.withLock { state in
            (state.records, state.proposals, state.ceremonies) = (records, proposals, ceremonies)
            state.isLoaded = true
            state.recognize()
            state.adopt(at: time)
            state.publish()
        }
    }

    /// The accounts and clients of the configuration that serves.
    func declare(_ accounts: [AccountPlan], clients: [ClientPlan] = [], at time: Timestamp) {
        let persons = ConfiguredPersons(clients)
        state.withLock { state in
            (state.accounts, state.persons) = (accounts, persons)
            guard state.isLoaded else { return }
            state.recognize()
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
            // They may have been made before the configuration changed.
            state.recognize()
            state.deadlineOffsets.keep(Array(state.records.values), state.proposals)
            state.publish()
        }
    }
}

extension KeyBoard.State {
    /// A client that gets another name or other proofs is the person that it was. Each configuration shows one step of that, so
    /// what it shows is kept with the proposals and jobs that are open.
    fileprivate mutating func recognize() {
        for index in proposals.indices { proposals[index].recognize(persons) }
        for index in ceremonies.indices { ceremonies[index].recognize(persons) }
    }

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
        lost = Set(records.values.filter(\.isLost).compactMap(\.fingerprint))
        let held = holds.states
        for issuerID in Set(accounts.map(\.issuerID)) {
            let own = records.values.filter { $0.issuerID == issuerID }
            let keys = Dictionary(
                own.map { record in
                    let state = record.state.stopped(as: held[record.keyID])
                    return (
                        record.keyID,
                        AccountKeys.Key(record, state: state, deadline: deadlineOffsets.deadline(of: record))
                    )
                },
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

    /// One for each proposal that waits; a free one holds `null`.
    static func proposal(_ slot: Int) -> String { "proposal/\(slot)" }

    static func slot(of name: String) -> Int? {
        name.hasPrefix("proposal/") ? Int(name.dropFirst("proposal/".count)) : nil
    }

    static func key(_ keyID: String) -> String { "key/\(keyID)" }
}
