import SigningKit
import Testing

@testable import PKCS11Token

@Suite("Threads of a token", .timeLimit(.minutes(1)))
struct WorkerTests {
    @Test("a caller gets an error if the threads end before they run its job")
    func ended() async throws {
        let (worker, watch) = (Worker(), Worker())
        worker.end()
        watch.end()
        await #expect(throws: KeyError.unavailable("The token did not answer within 60 s.")) {
            try await worker.perform(within: 60_000, watchedBy: watch) { () throws(KeyError) in () }
        }
    }

    @Test("jobs run in the order of their times")
    func order() async throws {
        let worker = Worker()
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        worker.run(after: 40) { continuation.yield(3) }
        worker.run { continuation.yield(1) }
        worker.run(after: 20) { continuation.yield(2) }
        try #require(worker.start("test"))
        #expect(await numbers.prefix(3).reduce(into: []) { $0.append($1) } == [1, 2, 3])
        worker.end()
    }
}
