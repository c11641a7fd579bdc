import Encodings
import SigningKit
import StrictJSON

/// Checks a claim with a JSON object in padded standard Base64, such as `request` of the Advanced Commerce API.
struct EncodedObjectCheck {
    let claim: String
    /// The members that the object must have.
    let members: [String]

    func findings(_ value: JSONValue) -> [Finding] {
        if value.kind == .object {
            return [finding(.requestObject, "is a JSON object; it must be the Base64 of the object's text")]
        }
        guard let text = try? value.string() else {
            return [.claimKind(claim, .string, value.kind)]
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

    private func contents(_ bytes: [UInt8]) -> [Finding] {
        let object: JSONObject
        do { object = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            if let inner = LenientBase64(bytes)?.bytes, (try? JSONDocument(parsing: inner)) != nil {
                return [finding(.requestEncodedTwice, "was encoded in Base64 twice")]
            }
            return [finding(.requestNotJSON, "holds no JSON object. \(error)", isWhole: true)]
        }
        return members.filter { object[$0] == nil }.map { missing($0) }
            + object.members.flatMap { texts(in: $0.value, "\(claim).\($0.name)") }.prefix(Self.mostTexts)
    }

    private func missing(_ member: String) -> Finding {
        Finding(
            .requestIncomplete, field: claim, "The claim \"\(claim)\" holds a \(claim) without \"\(member)\".",
            cure: "Add the member; every \(claim) has \(members.listed("and")).")
    }

    /// The maximum number of findings about the object's texts.
    private static let mostTexts = 5

    /// Warnings about white space and invisible characters in the object's texts. The JSON parser limits the depth.
    private func texts(in value: JSONValue, _ path: String) -> [Finding] {
        switch value.kind {
        case .string: (try? value.string()).map { TextProperties.warnings($0, .userName, field: path) } ?? []
        case .array:
            ((try? value.elements()) ?? []).enumerated().flatMap { texts(in: $1, "\(path)[\($0)]") }
        case .object:
            ((try? value.anyObject().members) ?? []).flatMap { texts(in: $0.value, "\(path).\($0.name)") }
        case .number, .boolean, .null: []
        }
    }

    private func finding(_ code: FindingCode, _ sentence: String, isWhole: Bool = false) -> Finding {
        Finding(code, field: claim, "The claim \"\(claim)\" \(sentence)\(isWhole ? "" : ".")")
    }
}
