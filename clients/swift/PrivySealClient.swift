// A client of the PrivySeal gateway. It needs only Foundation, and Swift 6.

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One gateway, for any number of tasks.
public final class PrivySealClient: Sendable {
    public struct Options: Sendable {
        /// The address of the public listener, such as https://gateway.example.com:8443.
        public var url: String
        /// Contains the client's bearer token. It is read for each request, so the token can be replaced.
        public var tokenFile: String
        /// Seconds for each attempt. The gateway's own limit is 10 s.
        public var timeout = 15.0
        /// The longest Retry-After, in seconds, that the client waits for.
        public var maxWait = 10.0
        public var maxAnswerBytes = 1 << 20

        public init(url: String, tokenFile: String) {
            self.url = url
            self.tokenFile = tokenFile
        }
    }

    /// The answer of a feature. Members that the feature does not have are nil.
    public struct Offer: Sendable, Codable {
        public var jws, keyId, nonce: String?
        /// Seconds since 1970.
        public var issuedAt: Int64?
        public var advancedCommerceData: String?
        // The members of legacy-promotional-offer, besides `nonce`.
        public var keyIdentifier: String?
        /// Milliseconds since 1970.
        public var timestamp: Int64?
        public var signature: String?
        /// The answer as received. A server can pass it to its app.
        public var json = Data()

        enum CodingKeys: CodingKey {
            case jws, keyId, nonce, issuedAt, advancedCommerceData, keyIdentifier, timestamp, signature
        }
    }

    /// A bearer token for a service of Apple. The times are in seconds since 1970.
    public struct Token: Sendable, Codable, CustomStringConvertible {
        public var token, keyId: String
        public var issuedAt, expiresAt, refreshAfter: Int64

        /// Leaves out the token, because programs log what they print.
        public var description: String { "token of \(keyId) until \(expiresAt)" }
    }

    /// An error answer of the gateway (RFC 9457).
    public struct Problem: Error, Sendable, CustomStringConvertible {
        public var type = "about:blank"
        public var title = ""
        public var status: Int
        public var detail = ""
        /// The wrong member of the request.
        public var field: String?
        public var requestId: String?
        /// Seconds. Nil if the answer has no Retry-After, and infinite if it is not a number of at most 9 digits.
        public var retryAfter: Double?

        public var description: String {
            "the gateway answered \(status) \(type): \(detail) (request \(requestId ?? "unknown"))"
        }
    }

    /// An answer that does not follow the HTTP API.
    public struct InvalidAnswer: Error, Sendable, CustomStringConvertible {
        public var reason: String
        public var requestId: String?

        public var description: String { "the answer is invalid: \(reason) (request \(requestId ?? "unknown"))" }
    }

    /// An attempt without a complete answer: no connection, a broken one, or a timeout.
    public struct NoAnswer: Error, Sendable, CustomStringConvertible {
        public var reason: String

        public var description: String { "no answer from the gateway: \(reason)" }
    }

    /// A setting that cannot be used.
    public struct InvalidSetting: Error, Sendable, CustomStringConvertible {
        public var description: String
    }

    private let options: Options
    private let base: String
    private let transfers = Transfers()
    private let session: URLSession
    private let tokens = TokenCache()

    public init(_ options: Options) throws {
        guard let url = URLComponents(string: options.url), ["https", "http"].contains(url.scheme),
            !(url.host ?? "").isEmpty, url.user == nil, url.query == nil, url.fragment == nil
        else {
            throw InvalidSetting(
                description: "the URL must be https://HOST or http://HOST, with an optional port and path")
        }
        self.options = options
        base = options.url.hasSuffix("/") ? String(options.url.dropLast()) : options.url
        if let proxy = Self.proxyVariable(scheme: url.scheme ?? "", host: url.host ?? "") {
            throw InvalidSetting(
                description:
                    "\(proxy) is set, so URLSession would use the proxy; add the gateway's host to no_proxy")
        }
        let configuration = URLSessionConfiguration.ephemeral
        // Foundation ignores this on Linux.
        configuration.connectionProxyDictionary = [:]
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        // `send` applies the timeout. This one begins again with each byte.
        configuration.timeoutIntervalForRequest = options.timeout + 1
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// The gateway of the environment variables PRIVYSEAL_URL and PRIVYSEAL_TOKEN_FILE.
    public static func fromEnvironment() throws -> PrivySealClient {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) throws -> String {
            guard let value = environment[name], !value.isEmpty else {
                throw InvalidSetting(description: "the environment variable \(name) is not set")
            }
            return value
        }
        return try PrivySealClient(Options(url: value("PRIVYSEAL_URL"), tokenFile: value("PRIVYSEAL_TOKEN_FILE")))
    }

    /// The environment variable with the proxy that libcurl, which is below URLSession on Linux, uses; nil for none.
    private static func proxyVariable(scheme: String, host: String) -> String? {
        #if canImport(FoundationNetworking)
            // To libcurl, an empty variable is not set. It ignores HTTP_PROXY, which a header can set in a CGI program.
            let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
            let names = [scheme + "_proxy"] + (scheme == "https" ? ["HTTPS_PROXY"] : []) + ["all_proxy", "ALL_PROXY"]
            let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
            let isException = exceptions == "*" || exceptions.split { ", ".contains($0) }.contains { $0 == host }
            return isException ? nil : names.first { environment[$0] != nil }
        #else
            return nil
        #endif
    }

    /// Asks for a signature. Of a feature that this client does not know, only `json` is set.
    public func offer(bundleId: String, feature: String, fields: some Encodable) async throws -> Offer {
        let path = "/v1/apps/\(Self.encode(bundleId))/\(Self.encode(feature))"
        let (json, known) = try await post(path, JSONEncoder().encode(fields), offerMembers[feature] ?? [])
        var offer = Offer()
        if offerMembers[feature] != nil { offer = try known.decode(Offer.self) }
        offer.json = json
        return offer
    }

    /// A token for the App Store Server API.
    public func appToken(bundleId: String) async throws -> Token {
        try await token("/v1/apps/\(Self.encode(bundleId))/app-store-server-api", [String: String]())
    }

    /// A token for a service of the gateway's configuration.
    public func serviceToken(name: String, fields: some Encodable = [String: String]()) async throws -> Token {
        try await token("/v1/services/\(Self.encode(name))/token", fields)
    }

    private func token(_ path: String, _ fields: some Encodable) async throws -> Token {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let body = try encoder.encode(fields)
        return try await tokens.token(path + "\n" + String(decoding: body, as: UTF8.self)) { [self] in
            let answer = try await post(path, body, tokenMembers).1
            return ReceivedToken(
                token: try answer.decode(Token.self), asked: answer.asked, answered: seconds(ofDate: answer.date))
        }
    }

    private func post(_ path: String, _ body: Data, _ members: [Member]) async throws -> (Data, Answer) {
        var attempts = 0
        while true {
            let wait: Double
            do {
                return try await attempt(path, body, members)
            } catch {
                try Task.checkCancellation()
                attempts += 1
                guard let seconds = waitBeforeRetry(error, attempts) else { throw error }
                wait = seconds
            }
            try await Task.sleep(nanoseconds: Self.nanoseconds(wait))
        }
    }

    /// At most 30 years: a number of seconds may be infinite.
    private static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, min(seconds, 1e9)) * 1e9) }

    /// Seconds, or nil for no retry; as "Retrying" of docs/http-api.md says.
    private func waitBeforeRetry(_ error: any Error, _ attempts: Int) -> Double? {
        guard attempts < 3 else { return nil }
        if error is NoAnswer { return 0 }
        guard let problem = error as? Problem, problem.retryAfter ?? 0 <= options.maxWait,
            problem.retryAfter != .infinity
        else { return nil }
        // Callers that were refused together must not return together.
        let randomPart = Double.random(in: 0..<1)
        return switch problem.status {
        case 408: 0
        case 500: attempts == 1 ? 0 : nil
        case 504: problem.retryAfter ?? 0
        case 429: problem.retryAfter.map { $0 + randomPart }
        // The gateway always sends Retry-After. A proxy may not.
        case 503: (problem.retryAfter ?? 1) + randomPart
        default: nil
        }
    }

    private func attempt(_ path: String, _ body: Data, _ members: [Member]) async throws -> (Data, Answer) {
        guard let url = URL(string: base + path) else { throw InvalidSetting(description: "the URL is not valid") }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("Bearer \(try readToken())", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let asked = ContinuousClock.now
        let (response, content) = try await send(request)
        let requestId = response.value(forHTTPHeaderField: "X-Request-Id")
        guard let content else {
            throw InvalidAnswer(reason: "it has more than \(options.maxAnswerBytes) bytes", requestId: requestId)
        }
        guard response.statusCode < 400 else { throw Problem(response, content) }
        guard response.statusCode == 200 else {
            throw InvalidAnswer(reason: "its status is \(response.statusCode)", requestId: requestId)
        }
        guard var answer = Answer(content) else {
            throw InvalidAnswer(reason: "it is not a JSON object", requestId: requestId)
        }
        for member in members {
            guard answer.has(member.name) else {
                throw InvalidAnswer(reason: "\"\(member.name)\" is missing", requestId: requestId)
            }
            guard member.isValid(answer, member.name) else {
                throw InvalidAnswer(reason: "\"\(member.name)\" is not \(member.kind)", requestId: requestId)
            }
        }
        let times = ["issuedAt", "refreshAfter", "expiresAt"].compactMap(answer.integer)
        guard times == times.sorted() else {
            throw InvalidAnswer(
                reason: #""issuedAt", "refreshAfter" and "expiresAt" are not in order"#, requestId: requestId)
        }
        answer.asked = asked
        answer.date = response.value(forHTTPHeaderField: "Date") ?? ""
        return (content, answer)
    }

    private func send(_ request: URLRequest) async throws -> (HTTPURLResponse, Data?) {
        let task = session.dataTask(with: request)
        let timer = Task { [options] in
            try await Task.sleep(nanoseconds: Self.nanoseconds(options.timeout))
            task.cancel()
        }
        defer { timer.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { transfers.begin(task, options.maxAnswerBytes, $0) }
            } onCancel: {
                task.cancel()
            }
        } catch {
            let isTimeout = (error as? URLError)?.code == .cancelled
            throw NoAnswer(
                reason: isTimeout ? "no complete answer in \(options.timeout) s" : error.localizedDescription)
        }
    }

    private func readToken() throws -> String {
        let content = try Data(contentsOf: URL(fileURLWithPath: options.tokenFile))
        let token = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        // RFC 6750 §2.1.
        guard !token.isEmpty, token.utf8.allSatisfy({ isAlphanumeric($0) || "._~+/=-".utf8.contains($0) }) else {
            throw InvalidSetting(description: "\(options.tokenFile) does not contain a bearer token")
        }
        return token
    }

    private static func encode(_ segment: String) -> String {
        segment.utf8.map { isAlphanumeric($0) || "._~-".utf8.contains($0) ? String(UnicodeScalar($0)) : percent($0) }
            .joined()
    }

    private static func percent(_ byte: UInt8) -> String {
        "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: false
    }
}

/// The transfers of a session. A transfer over its limit ends with nil instead of its content.
private final class Transfers: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    typealias Result = CheckedContinuation<(HTTPURLResponse, Data?), any Error>

    private struct Transfer {
        let limit: Int
        let result: Result
        var content = Data()
    }

    private let lock = NSLock()
    private var transfers: [Int: Transfer] = [:]

    func begin(_ task: URLSessionDataTask, _ limit: Int, _ result: Result) {
        lock.withLock { transfers[task.taskIdentifier] = Transfer(limit: limit, result: result) }
        if task.state == .suspended { return task.resume() }
        // It was cancelled before it began, perhaps also before this transfer was known.
        lock.withLock { transfers.removeValue(forKey: task.taskIdentifier) }?.result.resume(
            throwing: URLError(.cancelled))
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let overLimit = lock.withLock { () -> Transfer? in
            transfers[dataTask.taskIdentifier]?.content.append(data)
            guard let transfer = transfers[dataTask.taskIdentifier], transfer.content.count > transfer.limit else {
                return nil
            }
            return transfers.removeValue(forKey: dataTask.taskIdentifier)
        }
        guard let overLimit else { return }
        // The caller need not wait for the end of the transfer.
        if let response = dataTask.response as? HTTPURLResponse {
            overLimit.result.resume(returning: (response, nil))
        } else {
            overLimit.result.resume(throwing: URLError(.badServerResponse))
        }
        dataTask.cancel()
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let transfer = lock.withLock({ transfers.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let response = task.response as? HTTPURLResponse, error == nil {
            transfer.result.resume(returning: (response, transfer.content))
        } else {
            transfer.result.resume(throwing: error ?? URLError(.badServerResponse))
        }
    }

    /// Follows no redirect: it could send the request to another server.
    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

private struct ReceivedToken: Sendable {
    let token: PrivySealClient.Token
    /// When the client sent the request.
    let asked: ContinuousClock.Instant
    /// When the gateway answered, by its own clock in seconds since 1970; 0 if the answer has no valid Date.
    let answered: Int64

    /// Whether the token should be replaced. The clock of this machine may be wrong, so the time since the request is
    /// also compared with the difference of two times of the gateway.
    var isOver: Bool {
        // The gateway may have issued the token long before it answered.
        let start = max(token.issuedAt, answered)
        return Date().timeIntervalSince1970 >= Double(token.refreshAfter)
            || ContinuousClock.now - asked >= .seconds(token.refreshAfter - start)
    }
}

private actor TokenCache {
    private enum Entry {
        case requested(Task<ReceivedToken, any Error>)
        case received(ReceivedToken)
    }

    private var entries: [String: Entry] = [:]

    func token(
        _ key: String, request: @escaping @Sendable () async throws -> ReceivedToken
    ) async throws -> PrivySealClient.Token {
        entries = entries.filter { if case .received(let received) = $0.value { !received.isOver } else { true } }
        switch entries[key] {
        case .received(let received):
            return received.token
        case .requested(let task):
            let received = try await task.value
            // If Apple wants a new token for each request, only the caller that asked may use this one.
            return received.isOver ? try await request().token : received.token
        case nil:
            // A task of its own: the cancellation of this caller must not end it for the others.
            let task = Task { try await request() }
            entries[key] = .requested(task)
            do {
                let received = try await task.value
                entries[key] = .received(received)
                return received.token
            } catch {
                entries[key] = nil
                throw error
            }
        }
    }
}

/// A JSON object.
private struct Answer {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Object: Decodable {
        let members: KeyedDecodingContainer<Name>
        init(from decoder: any Decoder) throws { members = try decoder.container(keyedBy: Name.self) }
    }

    private let content: Data
    private let members: KeyedDecodingContainer<Name>
    /// When the client sent the request.
    var asked = ContinuousClock.now
    /// The header of this name.
    var date = ""

    init?(_ content: Data) {
        guard String(validating: content, as: UTF8.self) != nil,
            let object = try? JSONDecoder().decode(Object.self, from: content)
        else { return nil }
        self.content = content
        members = object.members
    }

    func has(_ name: String) -> Bool { members.contains(Name(stringValue: name)) }
    func text(_ name: String) -> String? { try? members.decode(String.self, forKey: Name(stringValue: name)) }
    func integer(_ name: String) -> Int64? { try? members.decode(Int64.self, forKey: Name(stringValue: name)) }
    func decode<Value: Decodable>(_: Value.Type) throws -> Value { try JSONDecoder().decode(Value.self, from: content) }
}

/// A date of HTTP (RFC 9110 §5.6.7) in seconds since 1970, or 0 if it is not valid.
private func seconds(ofDate text: String) -> Int64 {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return Int64(formatter.date(from: text)?.timeIntervalSince1970 ?? 0)
}

extension PrivySealClient.Problem {
    fileprivate init(_ response: HTTPURLResponse, _ content: Data) {
        status = response.statusCode
        requestId = response.value(forHTTPHeaderField: "X-Request-Id")
        if let after = response.value(forHTTPHeaderField: "Retry-After") {
            let isNumber = (1...9).contains(after.utf8.count) && after.utf8.allSatisfy { (48...57).contains($0) }
            retryAfter = isNumber ? Double(after) : .infinity
        }
        // A proxy may answer with another content type. Then only the status is known.
        let kind = response.value(forHTTPHeaderField: "Content-Type")?.split(separator: ";").first ?? ""
        guard kind.trimmingCharacters(in: .whitespaces).lowercased() == "application/problem+json",
            let document = Answer(content)
        else { return }
        // RFC 9457 §3.1: a member of the wrong kind is ignored.
        type = document.text("type") ?? type
        title = document.text("title") ?? title
        detail = document.text("detail") ?? detail
        field = document.text("field")
        requestId = document.text("requestId") ?? requestId
    }
}

/// A required member of an answer, what it is, and the check of its value.
private struct Member: Sendable {
    let name, kind: String
    let isValid: @Sendable (Answer, String) -> Bool

    static func text(_ name: String, _ kind: String, _ isValid: @escaping @Sendable (String) -> Bool) -> Member {
        Member(name: name, kind: kind) { $0.text($1).map(isValid) ?? false }
    }

    static func keyId(_ name: String) -> Member { text(name, "a text that is not empty") { !$0.isEmpty } }
    static func jws(_ name: String) -> Member { text(name, "a JWS in compact serialization", isJWS) }
    static func base64(_ name: String) -> Member { text(name, "padded Base64", isBase64) }
    static func time(_ name: String) -> Member {
        Member(name: name, kind: "a positive integer") { $0.integer($1) ?? 0 > 0 }
    }
    static let nonce = text("nonce", "a UUID in lower case") { $0 == UUID(uuidString: $0)?.uuidString.lowercased() }
}

private let tokenMembers = [
    Member.jws("token"), .keyId("keyId"), .time("issuedAt"), .time("expiresAt"), .time("refreshAfter"),
]
private let jwsMembers = [Member.jws("jws"), .keyId("keyId"), .nonce, .time("issuedAt")]
private let offerMembers = [
    "legacy-promotional-offer": [.keyId("keyIdentifier"), .nonce, .time("timestamp"), .base64("signature")],
    "promotional-offer": jwsMembers,
    "introductory-offer-eligibility": jwsMembers,
    "advanced-commerce-api": jwsMembers + [.base64("advancedCommerceData")],
]

// A text that encodes its bytes in another way is not valid, so it is compared with their encoding.

@Sendable private func isBase64(_ text: String) -> Bool {
    !text.isEmpty && Data(base64Encoded: text)?.base64EncodedString() == text
}

@Sendable private func isJWS(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy(isBase64URL)
}

private func isBase64URL(_ part: Substring) -> Bool {
    guard !part.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return false }
    let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return isBase64(text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
}
