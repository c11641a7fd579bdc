/// A queue of fixed capacity: a linked list in preallocated elements. A cancelled job leaves it from any position.
struct JobQueue {
    private struct Slot {
        var job: Job?
        var next = JobQueue.none
    }

    private static let none = -1

    private var slots: [Slot]
    private var first = none
    private var last = none
    /// The head of the list of unused elements.
    private var free: Int
    private(set) var count = 0
    let limit: Int

    init(limit: Int) {
        self.limit = limit
        slots = (0..<limit).map { Slot(job: nil, next: $0 + 1 < limit ? $0 + 1 : Self.none) }
        free = limit > 0 ? 0 : Self.none
    }

    /// - Returns: false when the queue is full.
    mutating func append(_ job: Job) -> Bool {
        guard free != Self.none else { return false }
        let index = free
        free = slots[index].next
        slots[index].job = job
        slots[index].next = Self.none
        if last == Self.none { first = index } else { slots[last].next = index }
        last = index
        count += 1
        return true
    }

    /// - Returns: false when the queue is full.
    mutating func prepend(_ job: Job) -> Bool {
        guard free != Self.none else { return false }
        let index = free
        free = slots[index].next
        slots[index].job = job
        slots[index].next = first
        if first == Self.none { last = index }
        first = index
        count += 1
        return true
    }

    mutating func popFirst() -> Job? {
        first == Self.none ? nil : unlink(first, after: Self.none)
    }

    mutating func remove(_ ticket: UInt64) -> Job? {
        var previous = Self.none
        var index = first
        while index != Self.none {
            if slots[index].job?.ticket == ticket { return unlink(index, after: previous) }
            previous = index
            index = slots[index].next
        }
        return nil
    }

    private mutating func unlink(_ index: Int, after previous: Int) -> Job? {
        let job = slots[index].job.take()
        let next = slots[index].next
        if previous == Self.none { first = next } else { slots[previous].next = next }
        if last == index { last = previous }
        slots[index].next = free
        free = index
        count -= 1
        return job
    }
}
