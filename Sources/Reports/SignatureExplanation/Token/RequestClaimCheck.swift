import Encodings
import SigningKit
import StrictJSON

/// Checks the claim `request` of the Advanced Commerce API: the request's JSON in padded standard Base64.
enum RequestClaimCheck {
    static func findings(_ value: JSONValue) -> [Finding] {
        if value.kind == .object {
            return [finding(.requestObject, "is a JSON object; it must be the Base64 of the object's text")]
        }
        guard let text = try? value.string() else {
            return [Finding(.claimKind, field: "request", ClaimKind.message("request", .string, value.kind))]
        }
        if text.drop(while: \.isWhitespace).first == "{" {
            return [finding(.requestPlain, "is the JSON text itself; it must be the Base64 of that text")]
        }
        if let bytes = Base64.standard.decode(text.utf8) { return contents(bytes) }
        guard let lenient = LenientBase64(Array(text.utf8)) else {
            return [finding(.requestNotBase64, "is not Base64")]
        }
        return [
            finding(
                .requestBase64URL, "is in Base64url or without its padding; it must be in standard Base64 with \"=\"")
        ]
            + contents(lenient.bytes)
    }

    private static func contents(_ bytes: [UInt8]) -> [Finding] {
        let object: JSONObject
        do { object = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            if let inner = LenientBase64(bytes)?.bytes, (try? JSONDocument(parsing: inner)) != nil {
                return [finding(.requestEncodedTwice, "was encoded in Base64 twice")]
            }
            return [finding(.requestNotJSON, "holds no JSON object. \(error)", isWhole: true)]
        }
        return ["operation", "version", "requestInfo"].filter { object[$0] == nil }.map {
            finding(.requestIncomplete, "holds a request without \"\($0)\"")
        } + object.members.flatMap { texts(in: $0.value, "request.\($0.name)") }.prefix(mostTexts)
    }

    /// The maximum number of findings about the request's texts.
    private static let mostTexts = 5

    /// Warnings about white space and invisible characters in the request's texts. The JSON parser limits the depth.
    private static func texts(in value: JSONValue, _ path: String) -> [Finding] {
        switch value.kind {
        case .string: (try? value.string()).map { TextProperties.findings($0, .userName, field: path) } ?? []
        case .array:
            ((try? value.elements()) ?? []).enumerated().flatMap { texts(in: $1, "\(path)[\($0)]") }
        case .object:
            ((try? value.anyObject().members) ?? []).flatMap { texts(in: $0.value, "\(path).\($0.name)") }
        case .number, .boolean, .null: []
        }
    }

    private static func finding(_ code: FindingCode, _ sentence: String, isWhole: Bool = false) -> Finding {
        Finding(code, field: "request", "The claim \"request\" \(sentence)\(isWhole ? "" : ".")")
    }
}
