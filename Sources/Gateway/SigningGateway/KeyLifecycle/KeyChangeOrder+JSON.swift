import SigningKit
public import StrictJSON

extension KeyChangeOrder {
    /// The actions that a request can order.
    public static let actions: [KeyLifecycleAction] = [.activate, .retire, .suspend, .resume, .compromise, .restore]

    /// Reads the members of a request for an action. The path of the request names the key.
    public init(_ action: KeyLifecycleAction, _ keyID: String, from value: JSONValue) throws(JSONReadError) {
        let isActivation = action == .activate
        let object = try value.object(members: ["reason"] + (isActivation ? ["retiring", "overlap", "watch"] : []))
        self.init(
            action, keyID, reason: try object.text("reason"), retiring: try object.optionalText("retiring"),
            overlap: try object.seconds("overlap"), watch: try object.seconds("watch"))
    }
}

extension JSONObject {
    fileprivate func seconds(_ name: String) throws(JSONReadError) -> Int? {
        try optional(name) { value throws(JSONReadError) in
            let seconds = try value.integer()
            guard (0...315_360_000).contains(seconds) else {
                throw JSONReadError(.invalid("must be seconds, from 0 to ten years of them"))
            }
            return Int(seconds)
        }
    }
}
