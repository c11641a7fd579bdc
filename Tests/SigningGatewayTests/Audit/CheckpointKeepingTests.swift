import Testing

@testable import SigningGateway

@Suite("Which checkpoints the log keeps")
struct CheckpointKeepingTests {
    /// Of checkpoints of so many entries after so many seconds, the sizes of those that are kept.
    private func kept(_ checkpoints: [(size: Int, seconds: Int)]) -> [Int] {
        let begin = ContinuousClock.now
        var keeping = CheckpointKeeping()
        return checkpoints.filter {
            keeping.keeps($0.size, isCosigned: false, at: begin + .seconds($0.seconds))
        }.map(\.size)
    }

    @Test("All of a small log, as long as it grows")
    func small() {
        #expect(kept((1...64).map { ($0, 0) } + [(64, 0)]) == Array(1...64))
    }

    @Test("One a segment of a large log, however fast it grows", arguments: [300_000, 5_000_000])
    func large(_ size: Int) {
        #expect(kept([0, 4095, 4096, 4097].map { (size + $0, 0) }) == [size, size + 4096])
    }

    @Test("One an hour of a log that hardly grows")
    func idle() {
        #expect(kept([(100_000, 0), (100_060, 3599), (100_061, 3600), (100_062, 7199)]) == [100_000, 100_061])
    }

    @Test("The first with a co-signature after others, and the first without")
    func cosigned() {
        var keeping = CheckpointKeeping()
        let kept = [false, false, true, true, false].map { keeping.keeps(300_000, isCosigned: $0) }
        #expect(kept == [true, false, true, false, true])
    }

    @Test("A year of a checkpoint a minute stays quick to verify")
    func year() {
        let count = kept((1...365 * 24 * 60).map { ($0, $0 * 60) }).count
        #expect((8_760..<10_000).contains(count), "\(count)")
    }
}
