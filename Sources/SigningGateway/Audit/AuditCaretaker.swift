import AuditKit
import Dispatch
import Foundation
import Glibc
import Logging
import SigningKit
import Synchronization

/// Looks after the store beside the writer, on threads that yield to those who answer requests: one has it copied and
/// measured, the other, which may wait longest, has it indexed.
final class AuditCaretaker: Sendable {
    private static let pause = Duration.milliseconds(200)
    /// Rounds between two looks at the free space.
    private static let spaceInterval = 5
    /// What is added to the nice values of the threads.
    private static let niceness: (keeping: Int32, indexing: Int32) = (10, 19)

    private let shelf: AuditShelf
    private let reserve: Int
    private let queue: AuditQueue
    private let isStopped = Atomic(false)
    private let bell = DispatchSemaphore(value: 0)
    private let logger = Logger(label: "privyseal.audit")

    init(_ shelf: AuditShelf, _ queue: AuditQueue, reserve: Int) {
        self.shelf = shelf
        self.queue = queue
        self.reserve = reserve
    }

    var isShortOfSpace: Bool { shelf.freeBytes.map { $0 < reserve } ?? false }

    func start() {
        run("privyseal-keep", niceness: Self.niceness.keeping) { [self] round in
            if round % Self.spaceInterval == 0 { measure() }
            attempt(isKeeping: true) { store throws(AuditStoreError) in try store.maintain() }
        }
        run("privyseal-index", niceness: Self.niceness.indexing) { [self] _ in
            attempt(isKeeping: false) { store throws(AuditStoreError) in try store.index() }
        }
    }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        for _ in 0..<2 { bell.signal() }
    }

    private func run(_ name: StaticString, niceness: Int32, _ work: @escaping @Sendable (_ round: Int) -> Void) {
        let thread = Thread { [self] in
            ThreadName.set(name)
            // On Linux, of this thread alone.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
            var round = 0
            while !isStopped.load(ordering: .acquiring) {
                work(round)
                round += 1
                _ = bell.wait(timeout: .now() + Self.pause.dispatch)
            }
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    private func attempt(isKeeping: Bool, _ work: (any AuditStore) throws(AuditStoreError) -> Void) {
        guard let store = shelf.store else { return }
        do throws(AuditStoreError) { try work(store) } catch {
            logger.debug("The audit log could not be looked after: \(error)")
            // Whether that is so for the log itself the writer has to say, also when nobody asks for a signature.
            if isKeeping { queue.probe() }
        }
    }

    private func measure() {
        guard let store = shelf.store else { return }
        let wasShort = isShortOfSpace
        shelf.freeBytes = store.freeBytes
        guard isShortOfSpace != wasShort, let free = shelf.freeBytes else { return }
        if isShortOfSpace {
            logger.critical(
                "Only \(free >> 20) MiB are free where the audit log is; when none are left, nothing is signed any more"
            )
        } else {
            logger.notice("\(free >> 20) MiB are free where the audit log is")
        }
    }
}
