import SigningKit
import StrictJSON

/// The parts of the OpenAPI document that describe one feature.
struct FeatureContract {
    /// The text for each placeholder `$(name)` of `openapi.yaml`.
    private let values: [(placeholder: String, text: String)]

    init(_ feature: FeatureDescriptor) {
        let own = Self.sections(of: feature.openAPI)
        let schemas = own["schemas"] ?? ""
        let isOwnRequest = "\n\(schemas)".contains("\n\(feature.name)Request:")
        let request = Self.example(of: feature.fields)
        values = [
            ("id", feature.id),
            ("name", feature.name),
            ("operationId", own["operationId"] ?? "sign\(feature.name)"),
            ("summary", Self.quoted(feature.summary)),
            ("summaryOfBatch", Self.quoted("\(feature.summary), up to 100 times")),
            ("description", Self.quoted(feature.description)),
            ("request", request),
            ("answer", Self.example(of: feature.answer)),
            ("requestExamples", Self.examples(of: feature, typical: request) + (own["examples"] ?? "")),
            (
                "requestSchema",
                isOwnRequest ? "" : Self.schema("\(feature.name)Request", feature.fields, isClosed: true)
            ),
            ("answerSchema", Self.schema("\(feature.name)Answer", feature.answer, isClosed: false)),
            ("schemas", schemas),
        ]
    }

    /// Replaces the placeholders of a line. Further lines of a text get the same indentation.
    func fill(_ line: Substring) -> String {
        guard line.utf8.contains(UInt8(ascii: "$")) else { return String(line) }
        let indentation = line.prefix { $0 == " " }
        return values.reduce(String(line)) { line, value in
            line.replacing("$(\(value.placeholder))", with: value.text.replacing("\n", with: "\n\(indentation)"))
        }
    }

    // MARK: Examples

    private static func examples(of feature: FeatureDescriptor, typical: String) -> String {
        let required = feature.fields.filter(\.isRequired)
        let examples = "typical: {summary: A typical request, value: \(typical)}\n"
        guard !required.isEmpty, required.count < feature.fields.count else { return examples }
        return examples + "minimal: {summary: Only what is required, value: \(example(of: required))}\n"
    }

    /// An object with the members that have an example.
    private static func example(of fields: [FeatureField]) -> String {
        let members = fields.compactMap { field in field.example.map { "\(quoted(field.name)): \($0)" } }
        return "{\(members.joined(separator: ", "))}"
    }

    // MARK: Schemas

    /// - Parameter isClosed: Whether no other members are allowed.
    private static func schema(_ name: String, _ fields: [FeatureField], isClosed: Bool) -> String {
        let required = fields.filter(\.isRequired).map(\.name).joined(separator: ", ")
        let properties = fields.map { field in
            "\n    \(field.name):\n      description: \(quoted(field.summary))\n      \(schema(of: field.kind))"
        }
        return "\(name):\n  type: object\n  required: [\(required)]\n"
            + (isClosed ? "  additionalProperties: false\n" : "")
            + "  properties:" + (properties.isEmpty ? " {}" : properties.joined())
    }

    private static func schema(of kind: FeatureField.Kind) -> String {
        func component(_ name: String) -> String { "$ref: \"#/components/schemas/\(name)\"" }
        return switch kind {
        case .identifier: component("Identifier")
        case .userName: component("Username")
        case .uuid: component("UUID")
        case .keyID: component("KeyId")
        case .nonce: component("Nonce")
        case .jws: component("JWS")
        case .base64: component("Base64")
        case .encodedObject: component("Base64") + "\n      contentMediaType: application/json"
        case .string: "type: string"
        case .boolean: "type: boolean"
        case .integer: component("Count")
        case .object: "type: object"
        }
    }

    // MARK: YAML

    /// The top level of a YAML mapping: a text for each name, without the indentation of nested lines.
    private static func sections(of yaml: String) -> [String: String] {
        var sections: [String: String] = [:]
        var name = ""
        for line in yaml.split(separator: "\n", omittingEmptySubsequences: false) where !line.hasPrefix("#") {
            if !line.hasPrefix(" "), let colon = line.firstIndex(of: ":") {
                name = String(line[..<colon])
                sections[name] = String(line[colon...].dropFirst().drop { $0 == " " })
            } else {
                sections[name, default: ""] += (sections[name] == "" ? "" : "\n") + line.dropFirst(2)
            }
        }
        return sections
    }

    /// A JSON string, which is also a double-quoted scalar of YAML.
    private static func quoted(_ text: String) -> String { JSONText.string(text) }
}
