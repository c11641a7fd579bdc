import AuditKit
import Synchronization

/// The store while it is open, and what those want to know of it who do not wait for a disk.
final class AuditShelf: Sendable {
    private struct State {
        var store: (any AuditStore)?
        var freeBytes: Int?
        var registers: [String: AuditRegister] = [:]
    }

    private let state = Mutex(State())
    private let entries = Atomic(0)

    var store: (any AuditStore)? {
        get { state.withLock { $0.store } }
        set { state.withLock { $0.store = newValue } }
    }

    /// By name; empty while the log has not been opened.
    var registers: [String: AuditRegister] {
        get { state.withLock { $0.registers } }
        set { state.withLock { $0.registers = newValue } }
    }

    var entryCount: Int {
        get { entries.load(ordering: .relaxed) }
        set { entries.store(newValue, ordering: .relaxed) }
    }

    var freeBytes: Int? {
        get { state.withLock { $0.freeBytes } }
        set { state.withLock { $0.freeBytes = newValue } }
    }
}
