import Crypto
import CryptoExtras
import Encodings
import Foundation
import JWS
import StrictJSON

@testable import WorkloadIdentities

/// The key of an issuer in a test, which makes tokens.
struct TestKey {
    let keyID: String
    let algorithm: String
    let jwk: String
    private let sign: @Sendable ([UInt8]) throws -> [UInt8]

    static let es256 = es256(named: "es256")

    static func es256(named keyID: String) -> TestKey {
        let key = P256.Signing.PrivateKey()
        let point = Array(key.publicKey.rawRepresentation)
        return TestKey(
            keyID: keyID, algorithm: "ES256",
            jwk:
                #"{"kid":"\#(keyID)","kty":"EC","crv":"P-256","x":"\#(base64(point.prefix(32)))","y":"\#(base64(point.suffix(32)))"}"#
        ) { Array(try key.signature(for: $0).rawRepresentation) }
    }

    static let edDSA: TestKey = {
        let key = Curve25519.Signing.PrivateKey()
        return TestKey(
            keyID: "eddsa", algorithm: "EdDSA",
            jwk: #"{"kid":"eddsa","kty":"OKP","crv":"Ed25519","x":"\#(base64(key.publicKey.rawRepresentation))"}"#
        ) { Array(try key.signature(for: $0)) }
    }()

    /// Made once, because it takes a while.
    private static let madeRS256 = Result { try makeRS256() }

    static func rs256() throws -> TestKey { try madeRS256.get() }

    private static func makeRS256() throws -> TestKey {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try key.publicKey.getKeyPrimitives()
        return TestKey(
            keyID: "rs256", algorithm: "RS256",
            jwk:
                #"{"kid":"rs256","kty":"RSA","n":"\#(base64(numbers.modulus))","e":"\#(base64(numbers.publicExponent))"}"#
        ) { message in
            Array(
                try key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }

    /// - Parameters:
    ///   - header: the whole header; nil for `alg` and `kid` of this key.
    ///   - claims: as JSON.
    func token(header: String? = nil, _ claims: String) throws -> String {
        let header = header ?? #"{"alg":"\#(algorithm)","kid":"\#(keyID)"}"#
        let input = CompactJWS.signingInput(header: Array(header.utf8), payload: Array(claims.utf8))
        let signature = try sign(input)
        return String(decoding: CompactJWS.serialized(input, signature: signature.span), as: UTF8.self)
    }
}

func base64(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: Base64.url.encode(Array(bytes)), as: UTF8.self)
}

/// A JWK set.
func json(_ keys: String...) -> [UInt8] { json(keys) }

func json(_ keys: [String]) -> [UInt8] { Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8) }
