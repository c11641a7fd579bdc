import Crypto
import Encodings
import HummingbirdCore
import Signing
import StrictJSON

/// `GET /.well-known/jwks.json`: the public keys (RFC 7517 §5) that verify the gateway's signatures.
struct KeySetRoute {
    static let path = "/.well-known/jwks.json"

    let gateway: SnapshotHolder

    @Sendable func respond(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let keys = gateway.current.ring.handles.compactMap { handle -> JSONMembers? in
            guard handle.isTrustworthy, let publicKey = handle.publicKey else { return nil }
            // RFC 7518 §6.2.1: x and y, 32 bytes each.
            let point = Array(publicKey.rawRepresentation)
            return [
                "kty": "EC", "crv": "P-256", "x": Self.base64URL(point.prefix(32)),
                "y": Self.base64URL(point.suffix(32)), "kid": handle.settings.keyID, "alg": "ES256", "use": "sig",
            ]
        }
        return .json(["keys": keys], as: "application/jwk-set+json")
    }

    private static func base64URL(_ bytes: ArraySlice<UInt8>) -> String {
        Base64.url.text(bytes)
    }
}
