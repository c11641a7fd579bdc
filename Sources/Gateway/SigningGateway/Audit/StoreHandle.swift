import AuditKit
import Synchronization

/// The open store, and copies of its figures for callers that must not wait for the disk.
final class StoreHandle: Sendable {
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
