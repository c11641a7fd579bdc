import Synchronization

/// The tasks that monitor newly activated keys, one for each account. The next activation cancels the task.
final class ActivationMonitors: Sendable {
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
