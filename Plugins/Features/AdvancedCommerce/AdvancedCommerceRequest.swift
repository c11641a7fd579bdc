import Encodings
public import StrictJSON

/// An in-app request, as a JSON object (`request`) or its Base64 (`requestData`). `AdvancedCommerce.compose` validates
/// it.
public struct AdvancedCommerceRequest: JSONReadable, Sendable {
    /// The bytes to sign, with the spaces, order and escapes of the client.
    let bytes: [UInt8]
    let request: JSONValue
    /// The member that held the request; error messages begin with it.
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
            throw JSONReadError(.invalid("means the same as request; send only one of them"), at: "requestData")
        }
    }

    private static func decode(_ value: JSONValue) throws(JSONReadError) -> [UInt8] {
        guard let bytes = Base64.standard.decode(try value.string().utf8) else {
            throw JSONReadError(.invalid("is not Base64 as RFC 4648 §4 defines it, with + and / and padded with ="))
        }
        return bytes
    }
}

extension JSONSyntaxError {
    /// The description without its full stop, for use within another error message.
    fileprivate var fault: String { String(description.dropLast()) }
}
