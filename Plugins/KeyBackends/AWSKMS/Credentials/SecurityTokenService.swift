import Encodings
import SigningKit

/// Calls of AWS STS that return credentials of a role (AWS STS API Reference, AssumeRole and AssumeRoleWithWebIdentity).
struct SecurityTokenService: Sendable {
    let region: AWSRegion
    let variables: EnvironmentVariables
    let transport: HTTPTransport

    /// The parameters of both calls.
    struct Role: Sendable {
        var arn: String
        /// Nil for a new name.
        var sessionName: String?
        var externalID: String?
        /// In seconds, as the profile has it.
        var duration: String?
    }

    private static let source = "AWS STS"

    func assume(
        _ role: Role, with credentials: AWSCredentials, by deadline: ContinuousClock.Instant
    ) async throws(KeyError) -> AWSCredentials {
        var parameters = [("Action", "AssumeRole")] + common(role)
        if let externalID = role.externalID { parameters.append(("ExternalId", externalID)) }
        return try await call(parameters, role, credentials, by: deadline)
    }

    /// - Parameter tokenPath: a file with an OpenID Connect token, which its owner replaces.
    func assume(
        _ role: Role, webIdentityTokenIn tokenPath: String, by deadline: ContinuousClock.Instant
    ) async throws(KeyError) -> AWSCredentials {
        guard let text = try await CredentialFile.text(tokenPath, "web identity token file") else {
            throw .unavailable("The web identity token file \(tokenPath) does not exist.")
        }
        let token = text.split(whereSeparator: \.isWhitespace).joined()
        let parameters =
            [("Action", "AssumeRoleWithWebIdentity")] + common(role) + [("WebIdentityToken", token)]
        return try await call(parameters, role, nil, by: deadline)
    }

    private func common(_ role: Role) -> [(String, String)] {
        var parameters = [
            ("Version", "2011-06-15"), ("RoleArn", role.arn),
            ("RoleSessionName", role.sessionName ?? "privyseal-\(Timestamp.now().seconds)"),
        ]
        if let duration = role.duration { parameters.append(("DurationSeconds", duration)) }
        return parameters
    }

    /// - Parameter credentials: nil for a call without a signature.
    private func call(
        _ parameters: [(String, String)], _ role: Role, _ credentials: AWSCredentials?,
        by deadline: ContinuousClock.Instant
    ) async throws(KeyError) -> AWSCredentials {
        let address = try ServiceEndpoint.address("STS", "sts", region, variables)
        let body = Array(
            parameters.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&").utf8)
        var headers = [
            ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"), ("Host", address.authority),
        ]
        if let credentials {
            headers = SignatureV4(credentials: credentials, region: region.name, service: "sts", time: .now())
                .signed(headers, body)
        }
        let answer = try await transport.retrying(
            HTTPRequest(.post, address, headers: headers, body: body), by: deadline, Self.source)
        return try Self.credentials(answer, role)
    }

    private static func credentials(_ answer: HTTPAnswer, _ role: Role) throws(KeyError) -> AWSCredentials {
        let text = answer.text
        guard answer.status == 200 else {
            let code = XMLElement.content("Code", in: text) ?? "no error code"
            throw .unavailable(
                "AWS STS did not give credentials of the role \(role.arn): \(answer.status), \(AWSText.excerpt(code)). Check "
                    + "the role's trust policy, and the credentials or the token that ask for it.")
        }
        guard let part = XMLElement.content("Credentials", in: text),
            let accessKeyID = XMLElement.content("AccessKeyId", in: part),
            let secret = XMLElement.content("SecretAccessKey", in: part),
            let token = XMLElement.content("SessionToken", in: part),
            let expiry = XMLElement.content("Expiration", in: part).flatMap(Timestamp.init(anyRFC3339:))
        else { throw .unavailable("AWS STS sent an answer of another form than the documented one.") }
        return try AWSCredentials(
            accessKeyID: accessKeyID, secretAccessKey: secret, sessionToken: token, expiry: expiry,
            source: "the role \(role.arn)")
    }
}

/// Reads elements of AWS's XML answers that have no attributes.
enum XMLElement {
    /// The content of the only element with this name. Nil without exactly one, and for a text with an entity:
    /// credentials have none.
    static func content(_ name: String, in text: String) -> String? {
        let opening = text.ranges(of: "<\(name)>")
        let closing = text.ranges(of: "</\(name)>")
        guard opening.count == 1, closing.count == 1, opening[0].upperBound <= closing[0].lowerBound else { return nil }
        let content = text[opening[0].upperBound..<closing[0].lowerBound]
        guard !content.contains("&") else { return nil }
        return String(content)
    }
}

/// Texts of AWS in messages.
enum AWSText {
    /// At most 200 visible characters.
    static func excerpt(_ text: String) -> String {
        let visible = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint && $0.value >= 0x20 }
        return String(String.UnicodeScalarView(visible.prefix(200)))
    }
}

/// The server of an AWS service.
enum ServiceEndpoint {
    /// `AWS_ENDPOINT_URL_<SERVICE>` or `AWS_ENDPOINT_URL` (AWS SDKs and Tools Reference Guide, "Service-specific
    /// endpoints"), or the endpoint of the region.
    ///
    /// - Parameters:
    ///   - variable: the name of the service in a variable.
    ///   - service: its name in a host name.
    static func address(
        _ variable: String, _ service: String, _ region: AWSRegion, _ variables: EnvironmentVariables
    ) throws(KeyError) -> HTTPAddress {
        for name in ["AWS_ENDPOINT_URL_\(variable)", "AWS_ENDPOINT_URL"] {
            guard let text = variables[name] else { continue }
            guard let address = HTTPAddress(text), address.target == "/", address.isConfidential else {
                throw .unavailable(
                    "\(name) must be like https://\(service).example.com, without a path; http is for this machine only."
                )
            }
            return address
        }
        return region.endpoint(of: service)
    }
}
