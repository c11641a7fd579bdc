import StrictJSON

/// Apple's Java library writes null for each optional member of a request that is not set.
extension JSONObject {
    /// The value of a member; nil when the member is absent or null.
    func given(_ name: String) -> JSONValue? {
        guard let value = self[name], value.kind != .null else { return nil }
        return value
    }

    func optionalUnlessNull<Value>(
        _ name: String, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) throws(JSONReadError) -> Value? {
        guard given(name) != nil else { return nil }
        return try optional(name, read)
    }
}
