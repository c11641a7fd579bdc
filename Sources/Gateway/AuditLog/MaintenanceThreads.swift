import AuditKit
import Glibc
import Logging
import SigningKit
import Synchronization

/// The maintenance threads of the store, with lower priorities than the threads that answer requests. One calls
/// `maintain` and measures the free space. The other one, with the lowest priority, calls `index`.
final class MaintenanceThreads: Sendable {
    private static let pause = Duration.milliseconds(200)
    /// The number of rounds between two measurements of the free space.
    private static let spaceInterval = 5
    private static let niceness: (keeping: Int32, indexing: Int32) = (10, 19)

    private let storeHandle: StoreHandle
    private let reserve: Int
    private let queue: AuditQueue
    private let isStopped = Atomic(false)
    private let signal = Semaphore()
    private let logger = Logger(label: "privyseal.audit")

    init(_ store: StoreHandle, _ queue: AuditQueue, reserve: Int) {
        storeHandle = store
        self.queue = queue
        self.reserve = reserve
    }

    var isShortOfSpace: Bool { storeHandle.freeBytes.map { $0 < reserve } ?? false }

    /// - Returns: false when the system has no thread left.
    func start() -> Bool {
        let keeps = run("privyseal-maint", niceness: Self.niceness.keeping) { [self] round in
            if round % Self.spaceInterval == 0 { measure() }
            attempt(isKeeping: true) { store throws(AuditStoreError) in try store.maintain() }
        }
        let indexes = run("privyseal-index", niceness: Self.niceness.indexing) { [self] _ in
            attempt(isKeeping: false) { store throws(AuditStoreError) in try store.index() }
        }
        return keeps && indexes
    }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        for _ in 0..<2 { signal.signal() }
    }

    private func run(
        _ name: StaticString, niceness: Int32, _ work: @escaping @Sendable (_ round: Int) -> Void
    ) -> Bool {
        SystemThread.start(name, stackSize: 1 << 20) { [self] in
            // On Linux, this affects the calling thread only (setpriority(2)).
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
            var round = 0
            while !isStopped.load(ordering: .acquiring) {
                work(round)
                round += 1
                signal.wait(atMost: Self.pause)
            }
        }
    }

    private func attempt(isKeeping: Bool, _ work: (any AuditStore) throws(AuditStoreError) -> Void) {
        guard let store = storeHandle.store else { return }
        do throws(AuditStoreError) { try work(store) } catch {
            logger.debug("The maintenance of the audit log failed: \(error)")
            // Let the writer thread test whether the log is writable, even if no client requests a signature.
            if isKeeping { queue.probe() }
        }
    }

    private func measure() {
        guard let store = storeHandle.store else { return }
        let wasShort = isShortOfSpace
        storeHandle.freeBytes = store.freeBytes
        guard isShortOfSpace != wasShort, let free = storeHandle.freeBytes else { return }
        if isShortOfSpace {
            logger.critical(
                "Only \(free >> 20) MiB are free on the file system of the audit log; when it is full, nothing is signed"
            )
        } else {
            logger.notice("\(free >> 20) MiB are free on the file system of the audit log")
        }
    }
}
