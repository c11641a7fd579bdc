import Base64
public import StrictJSON

/// An in-app request, as a JSON object (`request`) or as Base64 of one (`requestData`).
///
/// Here it is only read; `AdvancedCommerce.compose` validates it, as strictly as the feature is set to.
public struct AdvancedCommerceRequest: JSONReadable, Sendable {
    /// What is signed: the same spaces, the same order, the same escapes that came.
    let bytes: [UInt8]
    /// The bytes, read.
    let request: JSONValue
    /// The member that held the request; errors begin with it.
    let member: String

    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.object(members: ["request", "requestData"])
        switch (object["request"], object["requestData"]) {
        case (let request?, nil):
            (bytes, self.request, member) = (Array(request.rawBytes), request, "request")
        case (nil, .some):
            bytes = try object.required("requestData") { value throws(JSONReadError) in try Self.decode(value) }
            do { request = try JSONDocument(parsing: bytes).root } catch {
                let sentence = "does not hold the Base64 of a JSON object: \(error.fault)"
                throw JSONReadError(.invalid(sentence), at: "requestData")
            }
            member = "requestData"
        case (nil, nil): throw JSONReadError(.missing, at: "request")
        case (.some, .some):
            throw JSONReadError(.invalid("says the same as request; send one of the two"), at: "requestData")
        }
    }

    private static func decode(_ value: JSONValue) throws(JSONReadError) -> [UInt8] {
        guard let bytes = Base64.standard.decode(try value.string().utf8) else {
            throw JSONReadError(.invalid("is not Base64 as RFC 4648 §4 has it, with + and / and padded with ="))
        }
        return bytes
    }
}

extension JSONSyntaxError {
    /// The description without its full stop: the sentence goes on in an error of the member that held the text.
    fileprivate var fault: String { String(description.dropLast()) }
}
