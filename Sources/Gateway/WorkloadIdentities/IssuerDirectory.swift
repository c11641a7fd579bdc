import Crypto
public import SigningKit

/// Finds the issuer of a token, and verifies the token with its keys.
public final class IssuerDirectory: Sendable {
    private let issuers: [Issuer]

    /// - Parameter previous: the directory before this one. Issuers with the same settings keep their keys.
    public init(_ settings: [IssuerSettings], inheriting previous: IssuerDirectory? = nil) {
        issuers = settings.map { settings in
            previous?.issuers.first { $0.settings.isSame(as: settings) }
                ?? Issuer(settings)
        }
    }

    init(_ issuers: [Issuer]) {
        self.issuers = issuers
    }

    public var isEmpty: Bool { issuers.isEmpty }

    /// Verifies a JWT (RFC 7519) in compact serialization. A token that was verified before costs one digest.
    public func verify(_ text: String, at now: Timestamp) async throws(IdentityError) -> WorkloadIdentity {
        guard text.utf8.count <= WorkloadToken.maximumLength else {
            throw .malformed("is longer than \(WorkloadToken.maximumLength) bytes")
        }
        let digest = SHA256.hash(data: Array(text.utf8))
        for issuer in issuers { if let known = issuer.identity(of: digest, at: now) { return known } }
        let token = try WorkloadToken(text)
        // A token with an `iss` may have a SPIFFE ID, too.
        let owners = issuers.filter { $0.isIssuer(of: token.claims) }
        guard let issuer = owners.first(where: \.settings.isNamedInTokens) ?? owners.first else { throw .unknownIssuer }
        return try await issuer.verify(token, digest: digest, at: now)
    }

    /// Begins to read the keys of issuers that have none yet, so that the first caller need not wait.
    public func prepare() {
        for issuer in issuers { issuer.prepare() }
    }

    /// Reads the keys of all issuers.
    ///
    /// - Returns: for each issuer, the algorithm and the ID of each of its keys, such as `ES256 k1`.
    public func readKeys() async -> [(issuer: IssuerSettings, keys: Result<[String], KeySetError>)] {
        prepare()
        var results: [(issuer: IssuerSettings, keys: Result<[String], KeySetError>)] = []
        for issuer in issuers {
            let keys = await issuer.readKeys().flatMap { set -> Result<[String], KeySetError> in
                guard !set.keys.isEmpty else { return .failure(.noUsableKey) }
                return .success(
                    set.keys.map { [$0.algorithm.rawValue, $0.keyID].compactMap(\.self).joined(separator: " ") })
            }
            results.append((issuer.settings, keys))
        }
        return results
    }
}

extension IssuerSettings {
    fileprivate var isNamedInTokens: Bool { if case .issuer = sign { true } else { false } }
}
