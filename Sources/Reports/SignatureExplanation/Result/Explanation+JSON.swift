import StrictJSON

extension Explanation: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "valid": isValid, "kind": kind.name, "outcome": outcome.rawValue, "findings": findings, "key": key,
            "signingInput": signingInput, "verifications": verifications,
        ]
        try members.encode(to: encoder)
    }
}
