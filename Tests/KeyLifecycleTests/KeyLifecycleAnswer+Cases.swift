import AuditKit
import KeyLifecycle

/// The value of each case, for `#require`.
extension KeyLifecycleAnswer {
    var done: [KeyLifecycleRecord]? { if case .done(let records, _) = self { records } else { nil } }
    var proposed: KeyProposal? { if case .proposed(let proposal) = self { proposal } else { nil } }
    var begun: ProvisioningJob? { if case .begun(let job) = self { job } else { nil } }
    var waiting: ProvisioningJob? { if case .waiting(let job) = self { job } else { nil } }
    var ended: KeyLifecycleRecord? { if case .ended(let record) = self { record } else { nil } }
}
