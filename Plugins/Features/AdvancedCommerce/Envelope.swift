import SigningKit
import StrictJSON

/// The minimum of a request: a JSON object with `operation`, `version` and `requestInfo`.
enum Envelope {
    static func check(_ request: JSONValue) throws(JSONReadError) {
        let object = try request.anyObject()
        for name in ["operation", "version"] {
            _ = try object.required(name) { value throws(JSONReadError) in try value.identifier() }
        }
        _ = try object.required("requestInfo") { value throws(JSONReadError) in try value.anyObject() }
        try checkTexts(in: request)
    }

    /// Refuses what `TextRule` refuses in every text, independently of the text's purpose.
    private static func checkTexts(in value: JSONValue) throws(JSONReadError) {
        switch value.kind {
        case .string: try TextRule.userName.check(value.string())
        case .array:
            _ = try value.elements { element throws(JSONReadError) in try checkTexts(in: element) } as [Void]
        case .object:
            for (name, member) in try value.anyObject().members {
                do {
                    try TextRule.userName.check(name)
                    try checkTexts(in: member)
                } catch { throw error.inside(name) }
            }
        case .number, .boolean, .null: break
        }
    }
}
