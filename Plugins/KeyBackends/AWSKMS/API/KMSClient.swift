import Encodings
import SigningKit
import StrictJSON

/// A call of the KMS API: its name, parameters and answer (AWS KMS API Reference, "Actions").
protocol KMSCall: Encodable, Sendable {
    associatedtype Answer: Decodable & Sendable

    static var name: String { get }
    /// Whether a second call has the same effect as one.
    static var isRepeatable: Bool { get }
}

extension KMSCall {
    static var isRepeatable: Bool { true }
}

/// Calls the KMS API in AWS's JSON protocol 1.1. It signs each request, and repeats what may succeed.
struct KMSClient: Sendable {
    let region: AWSRegion
    let endpoint: HTTPAddress
    let credentials: CredentialCache
    let transport: HTTPTransport
    /// Attempts for each call, including the first.
    let attempts: Int

    /// How often a call may get other credentials after AWS refused them.
    private static let replacements = 2

    func call<Call: KMSCall>(
        _ call: Call, by deadline: ContinuousClock.Instant
    ) async throws(KMSFailure) -> Call.Answer {
        let body = JSONText.encode(call)
        var backoff = Backoff(attempts: attempts)
        var replacementsLeft = Self.replacements
        var held = try await currentCredentials()
        var throttling: KMSFailure?
        while true {
            // An attempt that gets no answer must leave time for another one.
            let limit = Call.isRepeatable && !backoff.isLast ? min(deadline, .now + (deadline - .now) / 2) : deadline
            do throws(KMSFailure) {
                return try read(try await send(body, Call.name, with: held.credentials, by: limit), Call.self)
            } catch {
                if case .credentialsRefused = error, replacementsLeft > 0, let other = try await replacement(for: held)
                {
                    replacementsLeft -= 1
                    held = other
                    continue
                }
                switch error {
                case .throttled, .busy: throttling = error
                default: break
                }
                guard error.isRetryable(Call.self), let pause = backoff.next(), .now + pause < deadline else {
                    // After refusals, the time left for the last attempt may be too short for any answer.
                    if case .unavailable = error, Call.isRepeatable, let throttling { throw throttling }
                    throw error
                }
                do { try await Task.sleep(for: pause) } catch { throw .cancelled }
                // They may have been renewed meanwhile.
                held = try await currentCredentials()
            }
        }
    }

    private func currentCredentials() async throws(KMSFailure) -> CredentialCache.Held {
        do throws(KeyError) { return try await credentials.current() } catch {
            throw error == .cancelled ? .cancelled : .noCredentials(error)
        }
    }

    private func replacement(for held: CredentialCache.Held) async throws(KMSFailure) -> CredentialCache.Held? {
        do throws(KeyError) { return try await credentials.replacement(for: held) } catch {
            throw error == .cancelled ? .cancelled : .noCredentials(error)
        }
    }

    private func send(
        _ body: [UInt8], _ name: String, with credentials: AWSCredentials, by deadline: ContinuousClock.Instant
    ) async throws(KMSFailure) -> HTTPAnswer {
        let headers = [
            ("Content-Type", "application/x-amz-json-1.1"), ("Host", endpoint.authority),
            ("X-Amz-Target", "TrentService.\(name)"),
        ]
        let signed = SignatureV4(credentials: credentials, region: region.name, service: "kms", time: .now())
            .signed(headers, body)
        do throws(HTTPProblem) {
            return try await transport.send(
                HTTPRequest(.post, endpoint, headers: signed, body: body), by: deadline)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .noConnection: throw .busy
            case .tooLong: throw .malformed("AWS KMS at \(endpoint.origin) \(error.summary).")
            case .timedOut, .unreachable: throw .unavailable("\(endpoint.origin) \(error.summary)")
            }
        }
    }

    private func read<Call: KMSCall>(_ answer: HTTPAnswer, _ call: Call.Type) throws(KMSFailure) -> Call.Answer {
        guard answer.status == 200 else { throw KMSFailure(answer) }
        // Some calls answer with an empty body.
        let body = answer.body.isEmpty ? Array("{}".utf8) : answer.body
        let reason: String
        do throws(JSONSyntaxError) {
            let document = try JSONDocument(parsing: body)
            do throws(JSONReadError) { return try document.root.decode(Call.Answer.self) } catch { reason = "\(error)" }
        } catch { reason = "\(error)" }
        throw .malformed(
            "The answer of AWS KMS to \(Call.name) has another form than the documented one: \(AWSText.excerpt(reason))"
        )
    }
}
