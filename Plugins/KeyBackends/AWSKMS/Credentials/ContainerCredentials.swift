import SigningKit

/// Credentials from the endpoint of a container's host: Amazon ECS, and EKS Pod Identity (AWS SDKs and Tools Reference
/// Guide, "Container credential provider").
struct ContainerCredentials: Sendable {
    let variables: EnvironmentVariables
    let transport: HTTPTransport

    private static let source = "the container's credential endpoint"
    /// Of Amazon ECS.
    private static let host = "http://169.254.170.2"
    /// ECS, and EKS Pod Identity by IPv4 and IPv6. They are on the host's own network, so they have no TLS.
    private static let plainHosts: Set<String> = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]

    var isConfigured: Bool { path != nil || fullURI != nil }

    private var path: String? { variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] }
    private var fullURI: String? { variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] }

    func load(by deadline: ContinuousClock.Instant) async throws(KeyError) -> AWSCredentials {
        var headers = [("Accept", "application/json")]
        if let token = try await authorization() { headers.append(("Authorization", token)) }
        let request = HTTPRequest(.get, try address(), headers: headers)
        let answer = try await transport.retrying(request, by: deadline, Self.source)
        return try CredentialAnswer.credentials(answer, from: Self.source)
    }

    private func address() throws(KeyError) -> HTTPAddress {
        if let path {
            guard path.hasPrefix("/"), let address = HTTPAddress(Self.host + path) else {
                throw .unavailable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must be a path that begins with /.")
            }
            return address
        }
        guard let address = HTTPAddress(fullURI ?? ""),
            address.isConfidential || Self.plainHosts.contains(address.host)
        else {
            throw .unavailable(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL, or http to this machine, to 169.254.170.2, "
                    + "169.254.170.23 or [fd00:ec2::23].")
        }
        return address
    }

    /// The file is read each time, because its token is replaced.
    private func authorization() async throws(KeyError) -> String? {
        var token = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
        if let path = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            guard let text = try await CredentialFile.text(path, "container's authorization token file") else {
                throw .unavailable(
                    "The file \(path) in AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE does not exist.")
            }
            token = text
        }
        guard token?.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) != true else {
            throw .unavailable("The container's authorization token has a line break or another control character.")
        }
        return token
    }
}

extension HTTPTransport {
    /// Sends a request for credentials, three times at most. An answer of 429 or 5xx is repeated, too.
    ///
    /// - Parameter source: for messages.
    func retrying(
        _ request: HTTPRequest, by deadline: ContinuousClock.Instant, _ source: String
    ) async throws(KeyError) -> HTTPAnswer {
        var backoff = Backoff(attempts: 3)
        while true {
            // An endpoint that does not answer must leave time for another attempt.
            let limit = min(deadline, .now + (deadline - .now) / 2)
            let failure: KeyError
            do throws(HTTPProblem) {
                let answer = try await send(request, by: limit)
                guard answer.status == 429 || answer.status >= 500 else { return answer }
                failure = .unavailable("\(source.capitalizedFirst) answered \(answer.status).")
            } catch {
                if error == .cancelled { throw .cancelled }
                failure = .unavailable("\(source.capitalizedFirst) \(error.summary).")
            }
            guard let pause = backoff.next(), .now + pause < deadline else { throw failure }
            do { try await Task.sleep(for: pause) } catch { throw .cancelled }
        }
    }
}
