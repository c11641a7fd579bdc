import Encodings
import SigningKit
import StrictJSON

/// Checks a claim with a JSON object in padded standard Base64, such as `request` of the Advanced Commerce API.
struct EncodedObjectCheck {
    let claim: String
    /// The members that the object must have.
    let members: [String]

    /// The maximum number of findings about the object's texts.
    private static let mostTexts = 5

    func findings(_ value: JSONValue) -> [Finding] {
        if value.kind == .object {
            return [finding(.requestObject, "is a JSON object; it must be the Base64 of the object's text.")]
        }
        var findings: [Finding] = []
        guard let text = try? value.string() else {
            findings.addKind(claim, .string, value.kind)
            return findings
        }
        if text.drop(while: \.isWhitespace).first == "{" {
            return [finding(.requestPlain, "is the JSON text itself; it must be the Base64 of that text.")]
        }
        if let bytes = Base64.standard.decode(text.utf8) { return contents(bytes) }
        guard let lenient = LenientBase64(Array(text.utf8)) else {
            return [finding(.requestNotBase64, "is not Base64.")]
        }
        let detail = "is in Base64url or without its padding; it must be in standard Base64 with \"=\"."
        return [finding(.requestBase64url, detail)] + contents(lenient.bytes)
    }

    private func contents(_ bytes: [UInt8]) -> [Finding] {
        let object: JSONObject
        do { object = try JSONDocument(parsing: bytes).root.anyObject() } catch {
            if let inner = LenientBase64(bytes)?.bytes, (try? JSONDocument(parsing: inner)) != nil {
                return [finding(.requestEncodedTwice, "was encoded in Base64 twice.")]
            }
            return [finding(.requestNotJSON, "holds no JSON object. \(error)")]
        }
        var warnings: [Finding] = []
        for member in object.members { addWarnings(about: member.value, "\(claim).\(member.name)", to: &warnings) }
        let cure = "Add the member; every \(claim) has \(members.listed("and"))."
        return members.filter { object[$0] == nil }.map {
            finding(.requestIncomplete, "holds a \(claim) without \"\($0)\".", cure: cure)
        } + warnings
    }

    /// Adds warnings about white space and invisible characters in texts. The JSON parser limits the depth.
    private func addWarnings(about value: JSONValue, _ path: String, to findings: inout [Finding]) {
        guard findings.count < Self.mostTexts else { return }
        if let text = try? value.string() {
            findings.addTextFault(text, .userName, in: path)
        } else if let elements = try? value.elements() {
            for (index, element) in elements.enumerated() {
                addWarnings(about: element, "\(path)[\(index)]", to: &findings)
            }
        } else if let object = try? value.anyObject() {
            for member in object.members { addWarnings(about: member.value, "\(path).\(member.name)", to: &findings) }
        }
    }

    private func finding(_ code: FindingCode, _ sentence: String, cure: String? = nil) -> Finding {
        Finding(code, in: claim, "The claim \"\(claim)\" \(sentence)", cure: cure)
    }
}
