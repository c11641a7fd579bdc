import ArgumentParser
import StrictJSON

/// Reads the JSON of an answer. Invalid JSON is a usage error.
enum VerifyJSON {
    static func object(_ bytes: [UInt8]) throws(ValidationError) -> JSONObject {
        do { return try JSONDocument(parsing: bytes).root.anyObject() } catch {
            throw ValidationError("The input begins like JSON, but cannot be read. \(error)")
        }
    }

    /// A string's text, or a number exactly as it is written.
    static func text(_ value: JSONValue, _ name: String) throws(ValidationError) -> String {
        if let text = try? value.string() { return text }
        guard value.kind == .number else {
            throw ValidationError("\"\(name)\" in the input is neither a string nor a number.")
        }
        return String(decoding: value.rawBytes, as: UTF8.self)
    }
}
