import SigningKit

/// An issuer of JWTs that identify workloads: a Kubernetes cluster, a SPIFFE trust domain, a cloud, or any OpenID Connect
/// provider.
public struct IssuerSettings: Sendable {
    /// How a token shows that it comes from this issuer.
    public enum Sign: Sendable {
        /// The claim `iss` is this text (RFC 7519 §4.1.1).
        case issuer(String)
        /// The claim `sub` is a SPIFFE ID of this trust domain (SPIFFE JWT-SVID §3). Such a token needs no `iss`.
        case trustDomain(String)
    }

    /// The name by which clients refer to the issuer.
    public var name: String
    public var sign: Sign
    /// One of the values of the claim `aud` (RFC 7519 §4.1.3).
    public var audience: String
    public var keys: KeySetLocation
    /// The age at which the keys are read again, with the next request.
    public var refreshInterval: Duration
    /// The age at which the keys no longer prove anything.
    public var maximumAge: Duration
    /// Where the issuer is configured, such as `gateway.yaml:31: issuers[0]`.
    public var origin: String

    public init(
        name: String, sign: Sign, audience: String, keys: KeySetLocation, refreshInterval: Duration = .seconds(300),
        maximumAge: Duration = .seconds(3600), origin: String = ""
    ) {
        self.name = name
        self.sign = sign
        self.audience = audience
        self.keys = keys
        self.refreshInterval = refreshInterval
        self.maximumAge = maximumAge
        self.origin = origin
    }

    /// Whether both have the same tokens and keys.
    func isSame(as other: IssuerSettings) -> Bool {
        texts == other.texts && refreshInterval == other.refreshInterval && maximumAge == other.maximumAge
    }

    private var texts: [ExactText] {
        let (kind, text) =
            switch sign {
            case .issuer(let issuer): ("issuer", issuer)
            case .trustDomain(let domain): ("trustDomain", domain)
            }
        let (keys, trustRoots) =
            switch keys {
            case .file(let path): (path, "")
            case .url(let url, let trustRoots): (url, trustRoots ?? "")
            }
        return [name, kind, text, audience, keys, trustRoots].map(ExactText.init)
    }
}

/// Where an issuer publishes its keys, as a JWK set (RFC 7517 §5).
public enum KeySetLocation: Sendable {
    /// An absolute path.
    case file(String)
    /// A URL.
    ///
    /// - Parameter trustRoots: the path of a PEM file with the CAs that may sign the server's certificate; nil for those
    ///   of the system.
    case url(String, trustRoots: String?)
}
