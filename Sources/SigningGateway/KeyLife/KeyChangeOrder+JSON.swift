import SigningKit
public import StrictJSON

extension KeyChangeOrder {
    /// What can be asked for.
    public static let actions: [KeyLifeAction] = [.activate, .retire, .suspend, .resume, .compromise, .restore]

    /// The members that a request for an action may have; the key is named by its path.
    public init(_ action: KeyLifeAction, _ keyID: String, from value: JSONValue) throws(JSONReadError) {
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
