import Synchronization

struct AtomicDouble: ~Copyable, Sendable {
    private let bits: Atomic<UInt64>

    init(_ value: Double) {
        bits = Atomic(value.bitPattern)
    }

    borrowing func load() -> Double {
        Double(bitPattern: bits.load(ordering: .relaxed))
    }

    borrowing func store(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    borrowing func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let answer = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if answer.exchanged { return }
            old = answer.original
        }
    }
}
