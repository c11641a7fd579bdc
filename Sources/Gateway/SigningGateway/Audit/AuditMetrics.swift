import Metrics

final class AuditMetrics: Sendable {
    private let commits = Timer(label: "privyseal_audit_commit_seconds")
    private let entries = Counter(label: "privyseal_audit_entries_total")
    private let failures = Counter(label: "privyseal_audit_write_failures_total")

    init() {
        // Export the counter as 0, so that alerts can see its first increment.
        failures.increment(by: 0)
    }

    func note(_ group: AuditQueue.Group, took duration: Duration) {
        commits.record(duration: duration)
        entries.increment(by: Int64(group.entries.count + group.notes.count))
    }

    func noteFailure() { failures.increment() }
}
