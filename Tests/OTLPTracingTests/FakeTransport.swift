import Logging
import OTLPTracing
import Synchronization

/// A collector with scripted answers that reports each call.
final class FakeTransport: OTLPTransport {
    let destination = "http://collector.example/v1/traces"
    /// One element for each delivery.
    let calls: AsyncStream<String>
    private let called: AsyncStream<String>.Continuation
    private let answers: Mutex<[Result<OTLPAnswer, OTLPTransportError>]>
    private let closings = Atomic<Int>(0)

    /// - Parameter answers: the answers in order; later deliveries succeed.
    init(_ answers: [Result<OTLPAnswer, OTLPTransportError>] = []) {
        self.answers = Mutex(answers)
        (calls, called) = AsyncStream.makeStream()
    }

    var timesClosed: Int { closings.load(ordering: .acquiring) }

    func post(_ body: [UInt8]) async throws(OTLPTransportError) -> OTLPAnswer {
        called.yield(String(decoding: body, as: UTF8.self))
        let answer = answers.withLock { $0.isEmpty ? .success(OTLPAnswer(status: 200)) : $0.removeFirst() }
        return try answer.get()
    }

    /// Ends `calls`, so that a test that waits for another call continues.
    func close() async {
        closings.add(1, ordering: .acquiringAndReleasing)
        called.finish()
    }
}

/// Records log lines as "level message".
final class LogLines: Sendable {
    private let lines = Mutex([String]())
    var all: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            lines.lines.withLock { $0.append("\(event.level) \(event.message)") }
        }
    }
}
