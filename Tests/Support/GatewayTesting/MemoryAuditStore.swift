package import AuditKit
import Dispatch
import Synchronization

/// A log in memory with scripted faults.
package final class MemoryAuditStore: AuditStore {
    package struct Content {
        package var entries: [StoredEntry] = []
        package var roots: [[UInt8]] = []
        package var head: SignedTreeHead?
        package var kept: [SignedTreeHead] = []
        package var registers: [AuditRegister] = []

        package init() {}
    }

    private struct State {
        var content = Content()
        var fault: AuditStoreError?
        var openingFault: AuditStoreError?
        var transactions = 0
        var isHeld = false
        var watchers: [(transactions: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    package static let schemes = ["memory"]
    package let identity = AuditIdentity(origin: "example.com/log")
    private let state = Mutex(State())
    /// Held transactions wait for it; each signal lets one continue.
    private let gate = DispatchSemaphore(value: 0)

    package init() {}

    package static func exists(at location: AuditLocation) throws(AuditStoreError) -> Bool { true }
    package static func readAll(at location: AuditLocation) throws(AuditStoreError) -> [any AuditReader] { [] }
    package static func isOnThisMachine(_ location: AuditLocation) -> Bool { true }
    package static func create(at location: AuditLocation, identity: AuditIdentity) throws(AuditStoreError) {}
    package static func open(
        at location: AuditLocation, as role: AuditRole, timeout: Duration
    ) throws(AuditStoreError) -> Self { throw .closed }
    package static func read(at location: AuditLocation) throws(AuditStoreError) -> any AuditReader { throw .closed }

    package func maintain() throws(AuditStoreError) {}
    package func index() throws(AuditStoreError) {}
    package var freeBytes: Int? { nil }
    package func close() {}

    // MARK: Scripted faults

    package var content: Content {
        get { state.withLock { $0.content } }
        set { state.withLock { $0.content = newValue } }
    }

    /// If set, every transaction throws this error.
    package var fault: AuditStoreError? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    package var openingFault: AuditStoreError? {
        get { state.withLock { $0.openingFault } }
        set { state.withLock { $0.openingFault = newValue } }
    }

    package func opened() throws(AuditStoreError) -> MemoryAuditStore {
        if let openingFault { throw openingFault }
        return self
    }

    package var transactions: Int { state.withLock { $0.transactions } }

    package func hold() { state.withLock { $0.isHeld = true } }

    package func release() {
        state.withLock { $0.isHeld = false }
        gate.signal()
    }

    /// Waits until `count` transactions have begun.
    package func begun(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.transactions >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    package func entries(_ kind: String) -> [EntryFields] {
        content.entries.compactMap { EntryFields($0.body) }.filter { $0.kind == kind }
    }

    // MARK: Writing

    package func write<Result>(
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
    package var content: MemoryAuditStore.Content

    package init(_ content: MemoryAuditStore.Content) {
        self.content = content
    }

    package func head() throws(AuditStoreError) -> SignedTreeHead? { content.head }

    package func entries(
        in range: Range<Int>, _ visit: (StoredEntry) throws(AuditStoreError) -> Bool
    ) throws(AuditStoreError) {
        for entry in content.entries where range.contains(entry.index) {
            guard try visit(entry) else { return }
        }
    }

    package func segmentRoots() throws(AuditStoreError) -> [[UInt8]] { content.roots }
    package func append(_ entry: StoredEntry) throws(AuditStoreError) { content.entries.append(entry) }
    package func close(segment: Int, root: [UInt8]) throws(AuditStoreError) { content.roots.append(root) }
    package func setHead(_ head: SignedTreeHead) throws(AuditStoreError) { content.head = head }
    package func keep(_ checkpoint: SignedTreeHead) throws(AuditStoreError) { content.kept.append(checkpoint) }
    package func register(_ register: AuditRegister) throws(AuditStoreError) {
        content.registers.removeAll { $0.name == register.name }
        content.registers.append(register)
    }
    package func registers() throws(AuditStoreError) -> [AuditRegister] { content.registers }
    package func drop(segmentsBefore segment: Int) throws(AuditStoreError) {}
}
