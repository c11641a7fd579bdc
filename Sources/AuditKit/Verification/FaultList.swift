/// Faults as they are found. Bounded, so that a log of which everything is wrong does not fill the memory.
struct FaultList {
    /// Kept until they are put in order; more are only counted.
    private static let capacity = 10_000

    private var faults: [AuditFault] = []
    private var dropped = 0

    mutating func add(_ fault: AuditFault) {
        if let last = faults.last, let joined = last.joined(with: fault) {
            faults[faults.count - 1] = joined
        } else if faults.count < Self.capacity || (fault.isGrave && faults.count < 2 * Self.capacity) {
            faults.append(fault)
        } else {
            dropped += 1
        }
    }

    /// Counts faults that nobody kept.
    mutating func count(_ more: Int) { dropped += more }

    /// Sorted by index, those about the whole log first, and joined where one goes on with another.
    ///
    /// - Parameter limit: so many of them, and beyond that only grave ones.
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
        let told = joined.enumerated().filter { $0.offset < limit || $0.element.isGrave }.map(\.element)
        return (told, joined.count + dropped)
    }
}
