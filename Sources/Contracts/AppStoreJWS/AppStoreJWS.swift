import JWS
public import SigningKit
public import StrictJSON

/// The header and the base claims that all of Apple's audiences share
/// (Apple: "Generating JWS to sign App Store requests").
///
/// The header has exactly `alg`, `kid` and `typ`. The claims are `iss`, `iat`, `aud`, `bid`, `nonce` and the feature's
/// own. There is no `exp`, `sub` or `jti`: Apple rejects a payload with any other member.
public enum AppStoreJWS {
    /// - Parameters:
    ///   - audience: The claim `aud`.
    ///   - claims: writes the feature's own claims, after the base claims.
    /// - Returns: the bytes to sign.
    public static func signingInput(
        _ audience: String, for grant: Grant, claims: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var payload = JSONWriter(capacity: 512)
        payload.object { payload in
            payload.member("iss", grant.app.issuerID)
            payload.member("iat", grant.issuedAt.seconds)
            payload.member("aud", audience)
            payload.member("bid", grant.app.bundleID)
            payload.member("nonce", unescaped: grant.nonce.text)
            claims(&payload)
        }
        return CompactJWS.signingInput(header: header(keyID: grant.app.keyID), payload: payload.bytes)
    }

    static func header(keyID: String) -> [UInt8] {
        var header = JSONWriter(capacity: 64)
        header.object { header in
            header.member("alg", "ES256")
            header.member("kid", keyID)
            header.member("typ", "JWT")
        }
        return header.bytes
    }
}
