import AuditKit
import Dispatch
import Synchronization

/// A log in memory with scripted faults.
final class MemoryAuditStore: AuditStore {
    struct Content {
        var entries: [StoredEntry] = []
        var roots: [[UInt8]] = []
        var head: SignedTreeHead?
        var kept: [SignedTreeHead] = []
        var registers: [AuditRegister] = []
    }

    private struct State {
        var content = Content()
        var fault: AuditStoreError?
        var openingFault: AuditStoreError?
        var transactions = 0
        var isHeld = false
        var watchers: [(transactions: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    static let scheme = "memory"
    let identity = AuditIdentity(origin: "example.com/log")
    private let state = Mutex(State())
    /// Held transactions wait for it; each signal lets one continue.
    private let gate = DispatchSemaphore(value: 0)

    static func exists(at location: String) throws(AuditStoreError) -> Bool { true }
    static func create(at location: String, identity: AuditIdentity) throws(AuditStoreError) {}
    static func open(at location: String, timeout: Duration) throws(AuditStoreError) -> Self { throw .closed }
    static func read(at location: String) throws(AuditStoreError) -> any AuditReader { throw .closed }

    func maintain() throws(AuditStoreError) {}
    func index() throws(AuditStoreError) {}
    var freeBytes: Int? { nil }
    func close() {}

    // MARK: Scripted faults

    var content: Content {
        get { state.withLock { $0.content } }
        set { state.withLock { $0.content = newValue } }
    }

    /// If set, every transaction throws this error.
    var fault: AuditStoreError? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    var openingFault: AuditStoreError? {
        get { state.withLock { $0.openingFault } }
        set { state.withLock { $0.openingFault = newValue } }
    }

    func opened() throws(AuditStoreError) -> MemoryAuditStore {
        if let openingFault { throw openingFault }
        return self
    }

    var transactions: Int { state.withLock { $0.transactions } }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        state.withLock { $0.isHeld = false }
        gate.signal()
    }

    /// Waits until `count` transactions have begun.
    func begun(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.transactions >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    func entries(_ kind: String) -> [EntryFields] {
        content.entries.compactMap { EntryFields($0.body) }.filter { $0.kind == kind }
    }

    // MARK: Writing

    func write<Result>(
        _ body: (any AuditTransaction) throws(AuditStoreError) -> Result
    ) throws(AuditStoreError) -> Result {
        let (isHeld, reached) = state.withLock { state in
            state.transactions += 1
            let reached = state.watchers.filter { $0.transactions <= state.transactions }
            state.watchers.removeAll { $0.transactions <= state.transactions }
            return (state.isHeld, reached)
        }
        for watcher in reached { watcher.continuation.resume() }
        if isHeld { gate.wait() }
        if let fault { throw fault }
        let transaction = MemoryTransaction(content)
        let result = try body(transaction)
        content = transaction.content
        return result
    }
}

private final class MemoryTransaction: AuditTransaction {
    var content: MemoryAuditStore.Content

    init(_ content: MemoryAuditStore.Content) {
        self.content = content
    }

    func head() throws(AuditStoreError) -> SignedTreeHead? { content.head }

    func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        for entry in content.entries where range.contains(entry.index) {
            guard try visit(entry) else { return }
        }
    }

    func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { content.roots }
    func append(_ entry: StoredEntry) throws(AuditStoreError) { content.entries.append(entry) }
    func close(segment: Int, root: [UInt8]) throws(AuditStoreError) { content.roots.append(root) }
    func setHead(_ head: SignedTreeHead) throws(AuditStoreError) { content.head = head }
    func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError) { content.kept.append(checkpoint) }
    func register(_ register: AuditRegister) throws(AuditStoreError) {
        content.registers.removeAll { $0.name == register.name }
        content.registers.append(register)
    }
    func registers() throws(AuditStoreError) -> [AuditRegister] { content.registers }
    func drop(segmentsBefore segment: Int) throws(AuditStoreError) {}
}
