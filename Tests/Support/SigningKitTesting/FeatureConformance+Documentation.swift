import Foundation
import SigningKit

extension FeatureConformance {
    /// The README has the two tables that the descriptor makes, so that it cannot differ from the OpenAPI document.
    func checkDocumentation() {
        guard let text = Self.text(of: readme, above: URL(filePath: filePath)) else {
            return fail("there is no file \(readme)")
        }
        for fields in [Feature.descriptor.fields, Feature.descriptor.answer] {
            let table = Self.table(fields)
            if !text.contains(table) { fail("\(readme) does not have this table:\n\(table)") }
        }
    }

    static func table(_ fields: [FeatureField]) -> String {
        let rows = fields.map { field in
            "| `\(field.name)` | \(field.kind.word) | \(field.isRequired ? "yes" : "no") | \(field.summary) |"
        }
        return (["| member | kind | required | what it is |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }

    /// Searches the folders of the test's file for one in which `path` exists.
    private static func text(of path: String, above file: URL) -> String? {
        var folder = file
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if let text = try? String(contentsOf: folder.appending(path: path), encoding: .utf8) { return text }
        }
        return nil
    }
}

extension FeatureField.Kind {
    fileprivate var word: String {
        switch self {
        case .identifier: "identifier"
        case .uuid, .nonce: "UUID"
        case .base64, .encodedObject: "Base64"
        case .userName, .keyID, .jws, .string: "string"
        case .boolean: "Boolean"
        case .integer: "number"
        case .object: "object"
        }
    }
}
