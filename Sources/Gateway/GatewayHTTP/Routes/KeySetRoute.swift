import Crypto
import Encodings
import Hummingbird
import SigningGateway
import StrictJSON

/// `GET /.well-known/jwks.json`: the public keys (RFC 7517 §5) that verify the gateway's signatures.
struct KeySetRoute {
    static let path = "/.well-known/jwks.json"

    let gateway: SnapshotHolder

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.name("keys")
            writer.array { writer in
                for handle in gateway.current.ring.handles {
                    guard handle.isTrustworthy, let publicKey = handle.publicKey else { continue }
                    write(publicKey, handle.settings.keyID, to: &writer)
                }
            }
        }
        return .json(writer.bytes, as: "application/jwk-set+json")
    }

    /// RFC 7518 §6.2.1: x and y, 32 bytes each.
    private func write(_ key: P256.Signing.PublicKey, _ keyID: String, to writer: inout JSONWriter) {
        let point = Array(key.rawRepresentation)
        writer.object { writer in
            writer.member("kty", "EC")
            writer.member("crv", "P-256")
            writer.member("x", unescaped: Base64.url.encode(point.prefix(32)))
            writer.member("y", unescaped: Base64.url.encode(point.suffix(32)))
            writer.member("kid", keyID)
            writer.member("alg", "ES256")
            writer.member("use", "sig")
        }
    }
}
