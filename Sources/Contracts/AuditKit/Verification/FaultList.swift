/// Collects faults. It is bounded, so that a log with a fault in every entry does not fill the memory.
struct FaultList {
    /// The number of faults kept; further ones are only counted. Grave faults have twice the limit.
    private static let capacity = 10_000

    private var faults: [AuditFault] = []
    private var dropped = 0

    mutating func add(_ fault: AuditFault) {
        if let last = faults.last, let joined = last.joined(with: fault) {
            faults[faults.count - 1] = joined
        } else if faults.count < Self.capacity || (fault.isAlwaysReported && faults.count < 2 * Self.capacity) {
            faults.append(fault)
        } else {
            dropped += 1
        }
    }

    /// Counts faults that are not kept.
    mutating func count(_ more: Int) { dropped += more }

    /// The faults sorted by index, log-wide ones first, with adjacent ones joined.
    ///
    /// - Parameter limit: the number of faults to return; grave ones are returned beyond it.
    func inOrder(limit: Int) -> (first: [AuditFault], count: Int) {
        let places = faults.map { $0.entries?.lowerBound ?? -1 }
        var joined: [AuditFault] = []
        for index in faults.indices.sorted(by: { (places[$0], $0) < (places[$1], $1) }) {
            let fault = faults[index]
            if let both = joined.last?.joined(with: fault) {
                joined[joined.count - 1] = both
            } else {
                joined.append(fault)
            }
        }
        let told = joined.enumerated().filter { $0.offset < limit || $0.element.isAlwaysReported }.map(\.element)
        return (told, joined.count + dropped)
    }
}
