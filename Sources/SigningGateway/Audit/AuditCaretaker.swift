import AuditKit
import Dispatch
import Foundation
import Glibc
import Logging
import Synchronization

/// Looks after the store beside the writer: has it copied, indexed and measured, on a thread that yields to those who
/// answer requests.
final class AuditCaretaker: Sendable {
    private static let pause = Duration.milliseconds(200)
    /// Rounds between two looks at the free space.
    private static let spaceInterval = 5
    /// What is added to the thread's nice value.
    private static let niceness: Int32 = 10

    private let shelf: AuditShelf
    private let reserve: Int
    private let isStopped = Atomic(false)
    private let bell = DispatchSemaphore(value: 0)
    private let logger = Logger(label: "privyseal.audit")

    init(_ shelf: AuditShelf, reserve: Int) {
        self.shelf = shelf
        self.reserve = reserve
    }

    var isShortOfSpace: Bool { shelf.freeBytes.map { $0 < reserve } ?? false }

    func start() {
        let thread = Thread { [self] in
            // On Linux, of this thread alone.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
            var round = 0
            while !isStopped.load(ordering: .acquiring) {
                if round % Self.spaceInterval == 0 { measure() }
                maintain()
                round += 1
                _ = bell.wait(timeout: .now() + Self.pause.dispatch)
            }
        }
        thread.name = "privyseal-ledger"
        thread.stackSize = 1 << 20
        thread.start()
    }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        bell.signal()
    }

    private func maintain() {
        guard let store = shelf.store else { return }
        do throws(AuditStoreError) { try store.maintain() } catch {
            // The writer says what is wrong with the log itself.
            logger.debug("The audit log could not be looked after: \(error)")
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
