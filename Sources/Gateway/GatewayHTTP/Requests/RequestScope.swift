import Encodings
import GatewayConfiguration
import HTTPTypes
import HummingbirdCore
public import Logging
import NIOCore
import Signing
import SigningKit
import Synchronization
import TraceContext

/// One request and its answer. It collects facts for the answer's header, the log and the metrics.
public final class RequestScope: Sendable {
    /// The scope of the current task's request.
    @TaskLocal static var current: RequestScope?

    /// Logs with the level of the program. The server's own logger suppresses messages about requests.
    static let logger = Logger(label: "privyseal.requests")

    typealias Parameter = (name: String, value: Substring)

    let requestID: String
    /// Nil if the caller sent none and tracing is off.
    let trace: TraceContext?
    let begun: ContinuousClock.Instant
    let connection: Connection
    /// The path template, such as `/v1/apps/{bundleId}/{feature}`; nil for an unknown path.
    let route: String?
    /// The parameters of the path, percent-encoded.
    private let parameters: [Parameter]
    private let notes = Mutex(Notes())

    struct Notes: Sendable {
        var client: String?
        /// Set on the admin listener only.
        var administrator: Administrator?
        var app: String?
        var feature: String?
        var keyID: String?
        /// Whether the request was charged to the client's rate and quota.
        var isAdmitted = false
        var problem: ProblemKind?
        /// The problem with which the connection answered before the route did, and when.
        var ending: ProblemKind?
        var endedAt: ContinuousClock.Instant?
        /// The bytes that this request's body has taken from the budget of its client.
        var bodyBytes = 0
        /// The state of the client's limit; nil if it has none.
        var limit: RateLimitStatus?
    }

    init(
        requestID: String, trace: TraceContext?, begun: ContinuousClock.Instant, connection: Connection,
        route: String?, parameters: [Parameter]
    ) {
        self.requestID = requestID
        self.trace = trace
        self.begun = begun
        self.connection = connection
        self.route = route
        self.parameters = parameters
    }

    var known: Notes { notes.withLock { $0 } }

    func note(_ change: (inout Notes) -> Void) { notes.withLock { change(&$0) } }

    /// A parameter of the route's path, decoded.
    ///
    /// - Throws: `not-found` if it is not percent-encoded UTF-8.
    public func parameter(_ name: String) throws -> String {
        let encoded = parameters.first { $0.name == name }?.value ?? ""
        guard encoded.utf8.contains(UInt8(ascii: "%")) else { return String(encoded) }
        guard let decoded = PercentEncoding.decode(encoded.utf8) else { throw Problem.notFound("this path") }
        return decoded
    }

    /// Adds `requestId` and `traceId` to every log line of a request.
    public static let metadata = Logger.MetadataProvider {
        guard let scope = current else { return [:] }
        var metadata: Logger.Metadata = ["requestId": "\(scope.requestID)"]
        if let trace = scope.trace { metadata["traceId"] = "\(trace.traceID)" }
        return metadata
    }
}

/// Generates request IDs: 16 random hexadecimal digits of the process, and a counter of 12 hexadecimal digits.
enum RequestID {
    private static let process = UInt64.random(in: .min ... .max)
    private static let counter = Atomic<UInt64>(0)

    static func next() -> String {
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return String(unsafeUninitializedCapacity: 28) { buffer in
            for index in 0..<28 {
                let bits = index < 16 ? process >> UInt64(60 - 4 * index) : number >> UInt64(108 - 4 * index)
                buffer[index] = Hexadecimal.digit(UInt8(truncatingIfNeeded: bits) & 15)
            }
            return 28
        }
    }

    /// Whether a caller's ID is 1 to 128 visible ASCII characters (RFC 5234, VCHAR) without quotes and backslashes.
    /// Every log can hold such an ID without escapes.
    static func accept(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}

/// Reads the JSON body of a request, within limits.
enum RequestBody {
    /// Of a request for one signature, in bytes.
    static let maximumLength = 64 << 10

    /// - Parameter reserve: counts the bytes in flight before they are read. The admin listener limits its connections
    ///   instead.
    static func read(
        _ request: Request, upTo limit: Int = maximumLength,
        reserve: (Int) throws(Problem) -> Void = { _ throws(Problem) in }
    ) async throws -> [UInt8] {
        try requireJSON(request.headers.value(.contentType))
        try requirePlain(request.headers.value(.contentEncoding))
        var bytes: [UInt8] = []
        // Refuse a Content-Length above the limit before reading the first byte.
        let length = request.headers.value(.contentLength).flatMap { Int($0) }
        if let length {
            guard length <= limit else { throw tooLarge(limit) }
            try reserve(length)
            bytes.reserveCapacity(length)
        }
        do {
            for try await part in request.body {
                guard part.readableBytes <= limit - bytes.count else { throw tooLarge(limit) }
                if length == nil { try reserve(part.readableBytes) }
                bytes += part.readableBytesView
            }
            return bytes
        } catch {
            // The connection may know why the body is incomplete.
            throw error as? Problem ?? .incompleteBody
        }
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.bodyTooLarge, "A body may have at most \(limit) bytes here.")
    }

    /// Codings such as gzip (RFC 9110 §8.4) are not supported.
    private static func requirePlain(_ contentEncoding: String?) throws {
        guard let contentEncoding, !contentEncoding.utf8.equalsIgnoringASCIICase("identity") else { return }
        throw Problem(
            .unsupportedMediaType,
            "The header Content-Encoding is \"\(contentEncoding)\"; send the body as it is, without the header.")
    }

    /// `application/json` with any parameters (RFC 9110 §8.3.1).
    private static func requireJSON(_ contentType: String?) throws {
        if contentType == "application/json" { return }
        let mediaType = contentType?.utf8.prefix { $0 != UInt8(ascii: ";") }
            .filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard mediaType?.equalsIgnoringASCIICase("application/json") == true else {
            let found = contentType.map { "is \"\($0)\"" } ?? "is missing"
            throw Problem(.unsupportedMediaType, "The header Content-Type \(found); it must be application/json.")
        }
    }
}
