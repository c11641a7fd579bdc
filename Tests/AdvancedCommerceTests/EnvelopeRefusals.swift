import SigningKitTesting
import StrictJSON

/// Bodies that every level of validation refuses.
enum EnvelopeRefusals {
    static let all: [FeatureRefusal] = [
        FeatureRefusal("", .body(.empty)),
        FeatureRefusal(#"{"request":{"operation":"CREATE_SUB"#, .body(.truncated)),
        FeatureRefusal(#"{"request":{"operation":"a","operation":"b"}}"#, .body(.duplicateMember("operation"))),
        FeatureRefusal("{}", .missing("request")),
        FeatureRefusal(#"{"Request":{}}"#, .unknown("Request")),
        FeatureRefusal(#"{"request":{},"requestData":"e30="}"#, .invalid("requestData", saying: "only one of them")),
        FeatureRefusal(#"{"request":null}"#, .wrongKind("request", expected: .object, found: .null)),
        FeatureRefusal(#"{"request":"{}"}"#, .wrongKind("request", expected: .object, found: .string)),
        FeatureRefusal(#"{"request":[]}"#, .wrongKind("request", expected: .object, found: .array)),
        FeatureRefusal(#"{"requestData":{}}"#, .wrongKind("requestData", expected: .string, found: .object)),
        FeatureRefusal(#"{"requestData":null}"#, .wrongKind("requestData", expected: .string, found: .null)),
        FeatureRefusal(#"{"requestData":""}"#, .invalid("requestData", saying: "empty")),
        FeatureRefusal(#"{"requestData":"e30"}"#, .invalid("requestData", saying: "Base64")),
        FeatureRefusal(#"{"requestData":"e30=\n"}"#, .invalid("requestData", saying: "Base64")),
        FeatureRefusal(#"{"requestData":"_-8="}"#, .invalid("requestData", saying: "Base64")),
        FeatureRefusal(#"{"requestData":"ew=="}"#, .invalid("requestData", saying: "JSON")),
        FeatureRefusal(#"{"requestData":"7w=="}"#, .invalid("requestData", saying: "JSON")),
        // {"a":1,"a":2}
        FeatureRefusal(#"{"requestData":"eyJhIjoxLCJhIjoyfQ=="}"#, .invalid("requestData", saying: "twice")),
        FeatureRefusal(#"{"requestData":"W10="}"#, .wrongKind("requestData", expected: .object, found: .array)),
        FeatureRefusal(#"{"requestData":"e30="}"#, .missing("requestData.operation")),
        FeatureRefusal(#"{"request":{}}"#, .missing("request.operation")),
        FeatureRefusal(
            #"{"request":\#(SampleRequest.creation.replacing(#","version":"1""#, with: ""))}"#,
            .missing("request.version")),
        FeatureRefusal(
            #"{"request":\#(SampleRequest.creation.replacing(#""version":"1""#, with: #""version":1"#))}"#,
            .wrongKind("request.version", expected: .string, found: .number)),
        FeatureRefusal(
            #"{"request":\#(SampleRequest.creation.replacing("\(SampleRequest.info),", with: ""))}"#,
            .missing("request.requestInfo")),
        FeatureRefusal(
            #"{"request":\#(SampleRequest.creation.replacing(#""SKU":"s""#, with: #""SKU":"s\u2063""#))}"#,
            .invalid("request.items[0].SKU", saying: "U+2063")),
    ]
}
