import Crypto
import Encodings
import JWS
import SigningKit
import StrictJSON

/// Classifies an answer as served, failed or wrongly signed.
///
/// It builds the signed text from the request and the answer, independently of the gateway's code.
public struct AnswerCheck: Sendable {
    public let keys: PublicKeys

    public init(_ keys: PublicKeys) {
        self.keys = keys
    }

    public func judge(_ request: LoadRequest, status: Int, body: [UInt8]) -> LoadAnswer.Outcome {
        guard status == 200 else { return .failed("\(status)") }
        do {
            let answer = try JSONDocument(parsing: body).root.anyObject()
            let keyID =
                switch request.form {
                case .token: try token(request, answer)
                case .legacy, .named: try fields(request, answer)
                }
            if case .named(let wanted) = request.form, wanted != keyID {
                throw Fault("It names the key \(keyID), but the request named \(wanted).")
            }
            return .served(keyID: keyID)
        } catch let fault as Fault {
            return .wronglySigned(fault.sentence)
        } catch {
            return .wronglySigned("The answer cannot be read: \(error)")
        }
    }

    /// Whether the answer names an unknown key, so that the key set must be loaded again.
    public func needsKeyRefresh(_ request: LoadRequest, body: [UInt8]) -> Bool {
        guard let object = try? JSONDocument(parsing: body).root.anyObject() else { return false }
        let name = request.form == .token ? "keyId" : "keyIdentifier"
        guard let keyID = try? object[name]?.string() else { return false }
        return keys.keys[keyID] == nil
    }

    // MARK: Request forms

    /// Verifies the JWS, and returns the key ID in its header.
    private func token(_ request: LoadRequest, _ answer: JSONObject) throws -> String {
        let token = try CompactJWS(parsing: Array(try answer.text("jws").utf8))
        let header = try JSONDocument(parsing: token.header).root.anyObject()
        let claims = try JSONDocument(parsing: token.payload).root.anyObject()
        let keyID = try header.text("kid")
        guard try header.text("alg") == "ES256" else { throw Fault("Its header does not say ES256.") }
        guard try claims.text("bid").hasSameBytes(as: request.bundleID),
            try claims.text("productId").hasSameBytes(as: request.productID),
            try claims.text("offerIdentifier").hasSameBytes(as: request.offerID)
        else { throw Fault("It does not match the request.") }
        try verify(token.signingInput, keyID) { try P256.Signing.ECDSASignature(rawRepresentation: token.signature) }
        return keyID
    }

    /// Verifies the seven fields, and returns the key ID (Apple: "Generating a signature for promotional offers").
    private func fields(_ request: LoadRequest, _ answer: JSONObject) throws -> String {
        let keyID = try answer.text("keyIdentifier")
        guard let signature = Base64.standard.decode(try answer.text("signature").utf8) else {
            throw Fault("Its signature is not Base64.")
        }
        let user = if case .named = request.form { LoadRequest.username } else { "" }
        let fields = [
            request.bundleID, keyID, request.productID, request.offerID, user, try answer.text("nonce"),
            "\(try answer.number("timestamp"))",
        ]
        try verify(Array(fields.joined(separator: "\u{2063}").utf8), keyID) {
            try P256.Signing.ECDSASignature(derRepresentation: signature)
        }
        return keyID
    }

    private func verify(
        _ message: [UInt8], _ keyID: String, _ signature: () throws -> P256.Signing.ECDSASignature
    ) throws {
        guard let key = keys.keys[keyID] else {
            throw Fault("It names the key \(keyID), which the gateway does not show in its key set.")
        }
        guard let signature = try? signature(), key.isValidSignature(signature, for: message) else {
            throw Fault("The public key of \(keyID) does not verify it.")
        }
    }

    private struct Fault: Error {
        let sentence: String

        init(_ sentence: String) {
            self.sentence = sentence
        }
    }
}
