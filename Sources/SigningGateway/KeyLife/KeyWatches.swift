import Synchronization

/// What watches keys that were just activated. One for each account: the next activation ends it.
final class KeyWatches: Sendable {
    private let tasks = Mutex<[String: Task<Void, Never>]>([:])

    func set(_ task: Task<Void, Never>?, for issuerID: String) {
        let before = tasks.withLock { tasks in
            defer { tasks[issuerID] = task }
            return tasks[issuerID]
        }
        before?.cancel()
    }

    func end() {
        let all = tasks.withLock { tasks in
            defer { tasks = [:] }
            return tasks.values
        }
        for task in all { task.cancel() }
    }
}
