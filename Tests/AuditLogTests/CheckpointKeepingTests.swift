import Testing

@testable import AuditLog

@Suite("Retention of checkpoints in the log")
struct CheckpointKeepingTests {
    /// The sizes of the checkpoints that are kept. Each checkpoint has a size in entries and a time in seconds.
    private func kept(_ checkpoints: [(size: Int, seconds: Int)]) -> [Int] {
        let begin = ContinuousClock.now
        var keeping = CheckpointRetention()
        return checkpoints.filter {
            keeping.keeps($0.size, CheckpointPublisher.Cosigners(), at: begin + .seconds($0.seconds))
        }.map(\.size)
    }

    @Test("A small log keeps every checkpoint while it grows")
    func small() {
        #expect(kept((1...64).map { ($0, 0) } + [(64, 0)]) == Array(1...64))
    }

    @Test("A large log keeps one checkpoint for each segment", arguments: [300_000, 5_000_000])
    func large(_ size: Int) {
        #expect(kept([0, 4095, 4096, 4097].map { (size + $0, 0) }) == [size, size + 4096])
    }

    @Test("A slowly growing log keeps one checkpoint for each hour")
    func idle() {
        #expect(kept([(100_000, 0), (100_060, 3599), (100_061, 3600), (100_062, 7199)]) == [100_000, 100_061])
    }

    @Test("The log keeps the first checkpoint with a quorum, and the first without it ten minutes later")
    func cosigned() {
        var keeping = CheckpointRetention()
        let begin = ContinuousClock.now
        let checkpoints = [
            (false, 0), (false, 1), (true, 2), (true, 3), (false, 4), (true, 5), (false, 601), (false, 602),
        ]
        let kept = checkpoints.filter { hasQuorum, seconds in
            keeping.keeps(
                300_000, CheckpointPublisher.Cosigners(hasQuorum: hasQuorum), at: begin + .seconds(seconds))
        }.map(\.1)
        #expect(kept == [0, 2, 602])
    }

    @Test("A year of checkpoints each minute leaves fewer than 10,000")
    func year() {
        let count = kept((1...365 * 24 * 60).map { ($0, $0 * 60) }).count
        #expect((8_760..<10_000).contains(count), "\(count)")
    }
}
