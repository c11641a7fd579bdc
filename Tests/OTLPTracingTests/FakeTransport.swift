import Logging
import OTLPTracing
import Synchronization

/// A collector with scripted answers that reports each call.
final class FakeTransport: OTLPTransport {
    let destination = "http://collector.example/v1/traces"
    /// One element for each delivery.
    let calls: AsyncStream<String>
    private let called: AsyncStream<String>.Continuation
    private let answers: Mutex<[DeliveryProblem?]>

    /// - Parameter answers: the problems in order; nil is a success, and later deliveries succeed.
    init(_ answers: [DeliveryProblem?] = []) {
        self.answers = Mutex(answers)
        (calls, called) = AsyncStream.makeStream()
    }

    /// Ends `calls`, so that a test for a delivery that does not come fails and does not wait.
    func finish() { called.finish() }

    func post(_ body: [UInt8]) async throws(DeliveryProblem) {
        called.yield(String(decoding: body, as: UTF8.self))
        if let problem = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw problem }
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
