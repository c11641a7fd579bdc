import Encodings
import SigningKit
import StrictJSON

/// Why a call of the KMS API gave no result.
enum KMSFailure: Error {
    /// AWS limits the rate of requests. It stays so after all attempts.
    case throttled(String)
    /// All connections of this backend are in use, so nothing was sent.
    case busy
    /// KMS answered with a server error, or there was no answer. The value is the end of a sentence.
    case unavailable(String)
    /// The credentials are expired, unknown or wrong. A name of the AWS API, and its sentence.
    case credentialsRefused(code: String, String)
    /// KMS refused the call. A name of the AWS API, and its sentence.
    case refused(code: String, String)
    /// The answer has another form than the documented one. The value is a sentence.
    case malformed(String)
    /// There are no credentials.
    case noCredentials(KeyError)
    case cancelled

    /// Whether another attempt may succeed. A call that AWS throttled had no effect.
    func isRetryable(_ call: any KMSCall.Type) -> Bool {
        switch self {
        case .throttled, .busy: true
        case .unavailable: call.isRepeatable
        case .credentialsRefused, .refused, .malformed, .noCredentials, .cancelled: false
        }
    }

    func isRefusal(_ code: String) -> Bool {
        if case .refused(code, _) = self { true } else { false }
    }
}

/// The error document of AWS's JSON protocol.
private struct ErrorDocument: Decodable {
    let type: String?
    let message: String?

    private enum CodingKeys: String, CodingKey {
        case type = "__type"
        case message, capitalMessage = "Message"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = try container.decodeOrNull(.type)
        message = try container.decodeOrNull(.message) ?? container.decodeOrNull(.capitalMessage)
    }
}

extension KMSFailure {
    /// - Parameter answer: with another status than 200.
    init(_ answer: HTTPAnswer) {
        let document = try? JSONDocument(parsing: answer.body).root.decode(ErrorDocument.self)
        let name = document?.type ?? answer.header("x-amzn-ErrorType") ?? ""
        // `com.amazonaws.kms#NotFoundException`, or `NotFoundException:http://…`
        let code = AWSText.excerpt(String((name.split(separator: "#").last ?? "").prefix { $0 != ":" }))
        let message = AWSText.excerpt(document?.message ?? "")
        if answer.status == 429 || Self.throttlingCodes.contains(code) {
            self = .throttled(code)
        } else if answer.status >= 500 || Self.temporaryCodes.contains(code) {
            self = .unavailable("it answered \(answer.status)\(code.isEmpty ? "" : " (\(code))")")
        } else if Self.credentialCodes.contains(code) {
            self = .credentialsRefused(code: code, message)
        } else {
            self = .refused(code: code.isEmpty ? "status \(answer.status)" : code, message)
        }
    }

    /// The codes that AWS's tools treat as throttling, without `LimitExceededException`: KMS means a quota that does not
    /// pass by itself, such as the number of keys.
    private static let throttlingCodes: Set<String> = [
        "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "RequestThrottled",
        "TooManyRequestsException", "RequestLimitExceeded", "BandwidthLimitExceeded",
        "ProvisionedThroughputExceededException", "PriorRequestNotComplete", "SlowDown",
    ]

    /// KMS API Reference, "Common errors" and the errors of Sign. Most have a status of 5xx.
    private static let temporaryCodes: Set<String> = [
        "KMSInternalException", "DependencyTimeoutException", "KeyUnavailableException", "InternalFailure",
        "InternalServerError", "ServiceUnavailable", "RequestTimeout", "RequestTimeoutException",
    ]

    private static let credentialCodes: Set<String> = [
        "ExpiredTokenException", "ExpiredToken", "RequestExpired", "UnrecognizedClientException",
        "InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch", "IncompleteSignature",
        "IncompleteSignatureException", "MissingAuthenticationToken", "MissingAuthenticationTokenException",
    ]
}

// MARK: To KeyError

extension KMSFailure {
    /// The error for a signature.
    ///
    /// - Parameter key: the key's name, for messages.
    func whileSigning(_ key: String) -> KeyError {
        switch self {
        // A limited rate is like a full queue: the key works, and a retry in a moment may succeed.
        case .throttled, .busy: .busy
        default: keyError("sign with the key \(key)", key)
        }
    }

    /// - Parameters:
    ///   - step: continues a sentence: `describe the key alias/appstore`.
    ///   - key: the key's name, for messages.
    func keyError(_ step: String, _ key: String) -> KeyError {
        switch self {
        case .throttled(let code):
            return .unavailable(
                "AWS KMS limits the rate of requests (\(code)), so it did not \(step). Raise the quota of the account, or "
                    + "send fewer requests.")
        case .busy:
            return .unavailable("AWS KMS was not asked to \(step): all connections to it are in use. Try again.")
        case .unavailable(let reason): return .unavailable("AWS KMS did not \(step): \(reason).")
        case .credentialsRefused(let code, let message):
            return .unavailable(
                "AWS KMS did not \(step), because it refused the credentials (\(code)): \(message) Check them, and the clock "
                    + "of this machine.")
        case .refused(let code, let message): return Self.keyError(code, message, step, key)
        case .malformed(let sentence): return .failed(sentence)
        case .noCredentials(let error): return error
        case .cancelled: return .cancelled
        }
    }

    private static func keyError(_ code: String, _ message: String, _ step: String, _ key: String) -> KeyError {
        let sentence = "AWS KMS did not \(step) (\(code)): \(message)"
        switch code {
        case "NotFoundException":
            return .notFound(
                "AWS KMS has no key \(key) in this region and account. Check the region, the key ID or the alias.")
        case "DisabledException":
            return .unavailable("The KMS key \(key) is disabled. Enable it: aws kms enable-key.")
        case "AccessDeniedException":
            return .unavailable("\(sentence) Allow it in the key's policy or in the policy of the role.")
        case "KMSInvalidStateException": return .unavailable(sentence)
        case "InvalidKeyUsageException": return .unfit(sentence)
        default: return .failed(sentence)
        }
    }
}
