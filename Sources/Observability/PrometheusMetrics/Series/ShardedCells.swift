import Synchronization

/// Integers that many threads increment, spread over rows, so that most threads use a row of their own. Threads that
/// increment the same integer contend for its cache line, which costs several times as much as the addition.
///
/// A number is the sum over all rows. A sum read during writes may be slightly out of date.
struct ShardedCells: ~Copyable, @unchecked Sendable {
    private static let rows = 1 << rowBits
    private static let rowBits: UInt = 3
    /// Two cache lines, because processors fetch them in pairs.
    private static let lineBytes = 128

    private let memory: UnsafeMutableRawPointer
    private let rowBytes: Int
    private let columns: Int

    /// - Parameter columns: the number of integers, initially 0.
    init(columns: Int) {
        self.columns = columns
        let bytes = columns * MemoryLayout<Atomic<Int64>>.stride
        rowBytes = (bytes + Self.lineBytes - 1) / Self.lineBytes * Self.lineBytes
        memory = .allocate(byteCount: rowBytes * Self.rows, alignment: Self.lineBytes)
        for row in 0..<Self.rows {
            for column in 0..<columns { cell(row, column).initialize(to: Atomic(0)) }
        }
    }

    deinit {
        for row in 0..<Self.rows {
            for column in 0..<columns { cell(row, column).deinitialize(count: 1) }
        }
        memory.deallocate()
    }

    /// The row of the calling thread, for `add`.
    @inline(__always)
    static var row: Int {
        // The address of the stack identifies the thread. A thread may change its row or share one without harm.
        var here: UInt8 = 0
        return withUnsafeMutablePointer(to: &here) { pointer in
            Int((UInt(bitPattern: pointer) >> 18 &* 0x9E37_79B9_7F4A_7C15) >> (UInt(UInt.bitWidth) - rowBits))
        }
    }

    @inline(__always)
    borrowing func add(_ amount: Int64, row: Int, column: Int) {
        cell(row, column).pointee.wrappingAdd(amount, ordering: .relaxed)
    }

    borrowing func total(_ column: Int) -> Int64 {
        (0..<Self.rows).reduce(0) { $0 &+ cell($1, column).pointee.load(ordering: .relaxed) }
    }

    borrowing func reset() {
        for row in 0..<Self.rows {
            for column in 0..<columns { cell(row, column).pointee.store(0, ordering: .relaxed) }
        }
    }

    @inline(__always)
    private borrowing func cell(_ row: Int, _ column: Int) -> UnsafeMutablePointer<Atomic<Int64>> {
        (memory + row &* rowBytes).assumingMemoryBound(to: Atomic<Int64>.self) + column
    }
}
