import Crypto
import Encodings
import SigningKit

/// AWS Signature Version 4 for a POST to `/` without a query, which all calls of this backend are (IAM User Guide,
/// "Create a signed AWS API request").
struct SignatureV4: Sendable {
    let credentials: AWSCredentials
    let region: String
    /// The name of the service in the scope, such as `kms`.
    let service: String
    let time: Timestamp

    /// Adds the headers that authenticate a request: the time, the session token and the signature.
    ///
    /// - Parameters:
    ///   - headers: all headers that are signed, with `Host`.
    ///   - body: of the request.
    func signed(_ headers: [(name: String, value: String)], _ body: [UInt8]) -> [(name: String, value: String)] {
        var headers = headers + [("X-Amz-Date", timestamp)]
        if let token = credentials.sessionToken { headers.append(("X-Amz-Security-Token", token.text)) }
        let canonical = canonicalHeaders(headers)
        let names = canonical.map(\.name).joined(separator: ";")
        let request =
            "POST\n/\n\n" + canonical.map { "\($0.name):\($0.value)\n" }.joined() + "\n\(names)\n"
            + Hexadecimal.encode(SHA256.hash(data: body))
        let text =
            "\(Self.algorithm)\n\(timestamp)\n\(scope)\n" + Hexadecimal.encode(SHA256.hash(data: Array(request.utf8)))
        let signature = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: signingKey)
        let value =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(Hexadecimal.encode(signature))"
        return headers + [("Authorization", value)]
    }

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// Such as `20150830T123600Z`.
    private var timestamp: String {
        let text = time.text.filter { $0 != "-" && $0 != ":" }
        return text.prefix { $0 != "." } + "Z"
    }

    private var date: String { String(timestamp.prefix(8)) }

    private var scope: String { "\(date)/\(region)/\(service)/aws4_request" }

    /// A chain of HMACs over the parts of the scope.
    private var signingKey: SymmetricKey {
        var key = credentials.secretAccessKey.withBytes { secret in
            var bytes = Array("AWS4".utf8) + Array(secret)
            return bytes.withUnsafeMutableBytes { bytes in
                defer { Secret.wipe(bytes) }
                return SymmetricKey(data: bytes)
            }
        }
        for part in [date, region, service, "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        return key
    }

    /// Names in lower case, sorted; values without white space at the ends, and with single spaces inside.
    private func canonicalHeaders(
        _ headers: [(name: String, value: String)]
    ) -> [(name: String, value: String)] {
        headers.map { ($0.name.lowercased(), $0.value.split(separator: " ").joined(separator: " ")) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }
}
