import SigningKit

/// Credentials of an EC2 instance's role, from its metadata service in version 2 (Amazon EC2 User Guide, "Use the
/// Instance Metadata Service"). Version 1, which needs no token, is not used.
struct InstanceMetadata: Sendable {
    let variables: EnvironmentVariables
    let transport: HTTPTransport

    private static let source = "the instance metadata service"
    private static let path = "latest/meta-data/iam/security-credentials/"

    var isDisabled: Bool { variables.isTrue("AWS_EC2_METADATA_DISABLED") }

    func load(by deadline: ContinuousClock.Instant) async throws(KeyError) -> AWSCredentials {
        let base = try base()
        let token = try await text(
            HTTPRequest(
                .put, base.appending("latest/api/token"),
                headers: [("X-aws-ec2-metadata-token-ttl-seconds", "60")]), by: deadline)
        let headers = [("X-aws-ec2-metadata-token", token)]
        let role = try await text(HTTPRequest(.get, base.appending(Self.path), headers: headers), by: deadline)
        let answer = try await transport.retrying(
            HTTPRequest(.get, base.appending(Self.path + role), headers: headers), by: deadline, Self.source)
        return try CredentialAnswer.credentials(answer, from: Self.source)
    }

    /// The address may be without TLS: the service is at a link-local address of the instance.
    private func base() throws(KeyError) -> HTTPAddress {
        let isIPv6 = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
        let standard = isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
        guard let base = HTTPAddress(variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? standard) else {
            throw .unavailable("AWS_EC2_METADATA_SERVICE_ENDPOINT must be a URL such as http://169.254.169.254.")
        }
        return base
    }

    /// One line of visible ASCII.
    private func text(_ request: HTTPRequest, by deadline: ContinuousClock.Instant) async throws(KeyError) -> String {
        let answer = try await transport.retrying(request, by: deadline, Self.source)
        guard answer.status == 200 else {
            throw .unavailable(
                answer.status == 404
                    ? "The instance metadata service has no credentials: the instance has no role. Give it one."
                    : "The instance metadata service answered \(answer.status).")
        }
        let line = answer.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard (1...1024).contains(line.utf8.count), line.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .unavailable("The instance metadata service sent an answer of another form than the documented one.")
        }
        return line
    }
}

extension HTTPAddress {
    /// - Parameter path: without a slash at its begin.
    fileprivate func appending(_ path: String) -> HTTPAddress {
        at(target.hasSuffix("/") ? target + path : "\(target)/\(path)")
    }
}
