import ArgumentParser
import AuditKit
import SignatureExplanation
import StrictJSON

enum VerifySubject {
    /// A compact JWS.
    case token([UInt8])
    case legacy(LegacyAnswer)

    static let snapshotURL = ValidationError(
        "A signed URL of a Maps snapshot is not a JWS, so this command cannot check it. Request the URL: if the signature "
            + "is wrong, Apple answers with an error and not with an image.")

    /// - Parameters:
    ///   - input: a file, or `-` for standard input.
    ///   - fields: each `NAME=VALUE`.
    init(jws: String?, input: String?, app: String?, fields: [String]) throws {
        var named = VerifyFields()
        try named.set(arguments: fields)
        if let jws {
            guard input == nil else { throw ValidationError("Give the JWS with --jws or with --input, not with both.") }
            try Self.refuseSnapshotURL(jws)
            self = .token(try Self.alone(Array(jws.utf8), named))
            return
        }
        // Arguments with a signature need no input, so standard input is not read.
        if input != nil || !named.hasSignature {
            let bytes = try VerifyFile.contents(of: input ?? "-")
            if let token = try Self.token(in: bytes) {
                self = .token(try Self.alone(token, named))
                return
            }
            try Self.merge(bytes, into: &named)
        }
        if let app { try named.set("appBundleID", app) }
        self = .legacy(try named.answer())
    }

    private static func alone(_ token: [UInt8], _ fields: VerifyFields) throws -> [UInt8] {
        guard fields.isEmpty else {
            throw ValidationError("Fields are for a legacy signature; a JWS contains its own claims. Leave them out.")
        }
        return token
    }

    /// The token, if the input is one or the JSON of an answer with one; nil for a legacy answer.
    private static func token(in bytes: [UInt8]) throws -> [UInt8]? {
        guard let first = bytes.first(where: { $0 > 0x20 }) else {
            throw ValidationError("The input is empty; a JWS or the JSON of an answer is expected.")
        }
        guard first == UInt8(ascii: "{") else {
            try refuseSnapshotURL(String(decoding: bytes, as: UTF8.self))
            // Line breaks at its end belong to the file, not to the token.
            return Array(bytes.reversed().drop { $0 == 0x0A || $0 == 0x0D }.reversed())
        }
        let object = try object(bytes)
        guard object["protected"] == nil || object["payload"] == nil else {
            throw ValidationError(
                "The input is a JWS in JSON serialization; StoreKit takes the compact one: protected.payload.signature."
            )
        }
        if let type = try? object["type"]?.string(), type.hasPrefix("urn:privyseal:problem:") {
            let detail = (try? object["detail"]?.string()) ?? type
            throw ValidationError(
                "The input has no signature: the gateway refused the request. \(PlainText.of(detail))")
        }
        if let url = try? object["url"]?.string() { try refuseSnapshotURL(url) }
        let holder = (try? object["signatureInfo"]?.anyObject()["token"]) ?? object["jws"] ?? object["token"]
        guard let holder else { return nil }
        guard let token = try? holder.string() else { throw ValidationError("\"jws\" in the input is not a string.") }
        return Array(token.utf8)
    }

    /// Refuses the answer of the service `maps-snapshot-url`, with or without its JSON.
    private static func refuseSnapshotURL(_ text: String) throws(ValidationError) {
        let begin = text.drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        if begin.hasPrefix("https://snapshot.apple-mapkit.com/") { throw snapshotURL }
    }

    private static func merge(_ bytes: [UInt8], into fields: inout VerifyFields) throws {
        let object = try object(bytes)
        for member in object.names {
            guard let value = object[member], value.kind != .null else { continue }
            if let name = VerifyFields.name(member) {
                try fields.set(name, try text(value, member))
            } else {
                let name = PlainText.of(member)
                StandardError.print("privyseal: note: \"\(name)\" in the input is not a field; it is ignored.")
            }
        }
    }

    // MARK: JSON

    private static func object(_ bytes: [UInt8]) throws(ValidationError) -> JSONObject {
        do { return try JSONDocument(parsing: bytes).root.anyObject() } catch {
            throw ValidationError("The input begins like JSON, but cannot be read. \(error)")
        }
    }

    /// A string's text, or a number exactly as it is written.
    private static func text(_ value: JSONValue, _ name: String) throws(ValidationError) -> String {
        if let text = try? value.string() { return text }
        guard value.kind == .number else {
            throw ValidationError("\"\(name)\" in the input is neither a string nor a number.")
        }
        return String(decoding: value.rawBytes, as: UTF8.self)
    }
}
