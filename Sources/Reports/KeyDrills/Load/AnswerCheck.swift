import Crypto
import Encodings
import JWS
import SigningKit
import StrictJSON

/// Classifies an answer as served, failed or wrongly signed.
///
/// It builds the signed text from the request and the answer, independently of the gateway's code.
struct AnswerCheck {
    let keys: PublicKeys
    /// Of the requests.
    let bundleID: String

    func judge(_ request: LoadRequest, status: Int, body: [UInt8]) -> LoadAnswer.Outcome {
        guard status == 200 else { return .failed("\(status)") }
        do {
            let answer = try JSONDocument(parsing: body).root
            let keyID =
                switch request {
                case .token: try token(answer)
                case .legacy, .named: try fields(request, answer)
                }
            if case .named(let wanted) = request, wanted != keyID {
                throw DrillError("It names the key \(keyID), but the request named \(wanted).")
            }
            return .served(keyID: keyID)
        } catch let error as DrillError {
            return .wronglySigned(error.description)
        } catch {
            return .wronglySigned("The answer cannot be read: \(error)")
        }
    }

    // MARK: Request forms

    /// Verifies the JWS, and returns the key ID in its header.
    private func token(_ answer: JSONValue) throws -> String {
        let token = try CompactJWS(parsing: Array(try answer.decode(TokenAnswer.self).jws.utf8))
        let header = try JSONDocument(parsing: token.header).root.decode(Header.self)
        let claims = try JSONDocument(parsing: token.payload).root.decode(Claims.self)
        guard header.alg == "ES256" else { throw DrillError("Its header does not say ES256.") }
        guard claims.bid.hasSameBytes(as: bundleID), claims.productId == LoadRequest.productID,
            claims.offerIdentifier == LoadRequest.offerID
        else { throw DrillError("It does not match the request.") }
        try verify(token.signingInput, header.kid) {
            try P256.Signing.ECDSASignature(rawRepresentation: token.signature)
        }
        return header.kid
    }

    private struct TokenAnswer: Decodable {
        let jws: String
    }

    private struct Header: Decodable {
        let alg, kid: String
    }

    private struct Claims: Decodable {
        let bid, productId, offerIdentifier: String
    }

    /// Verifies the seven fields, and returns the key ID (Apple: "Generating a signature for promotional offers").
    private func fields(_ request: LoadRequest, _ answer: JSONValue) throws -> String {
        let answer = try answer.decode(LegacyAnswer.self)
        let keyID = answer.keyIdentifier
        guard let signature = Base64.standard.decode(answer.signature.utf8) else {
            throw DrillError("Its signature is not Base64.")
        }
        let user = if case .named = request { LoadRequest.username } else { "" }
        let fields = [
            bundleID, keyID, LoadRequest.productID, LoadRequest.offerID, user, answer.nonce,
            "\(answer.timestamp)",
        ]
        try verify(Array(fields.joined(separator: "\u{2063}").utf8), keyID) {
            try P256.Signing.ECDSASignature(derRepresentation: signature)
        }
        return keyID
    }

    private struct LegacyAnswer: Decodable {
        let keyIdentifier, signature, nonce: String
        let timestamp: Int64
    }

    private func verify(
        _ message: [UInt8], _ keyID: String, _ signature: () throws -> P256.Signing.ECDSASignature
    ) throws {
        guard let key = keys.keys[keyID] else {
            throw DrillError("It names the key \(keyID), which the gateway does not show in its key set.")
        }
        guard let signature = try? signature(), key.isValidSignature(signature, for: message) else {
            throw DrillError("The public key of \(keyID) does not verify it.")
        }
    }
}
