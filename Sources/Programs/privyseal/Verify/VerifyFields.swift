import ArgumentParser
import SignatureExplanation

/// The fields of a legacy answer, from its JSON, arguments and `--app`. A repeated field must have the same value.
struct VerifyFields {
    /// The spellings of each field. Messages use the first one, its name.
    private static let spellings = [
        ["appBundleID", "appBundleId", "bundleId", "bid"], ["keyIdentifier", "keyId", "kid"],
        ["productId", "productIdentifier"], ["offerIdentifier", "offerId", "subscriptionOfferId"],
        ["appAccountToken"], ["applicationUsername"], ["nonce"], ["timestamp"], ["signature", "encodedSignature"],
    ]
    private static let names = spellings.compactMap(\.first)
    private static let optional = ["appAccountToken", "applicationUsername"]

    /// By name.
    private var values: [String: String] = [:]

    /// The names with their other spellings, one per line.
    static let help = spellings.map { spellings in
        "  \(spellings.joined(separator: ", "))\(optional.contains(spellings[0]) ? " (optional)" : "")"
    }.joined(separator: "\n")

    var isEmpty: Bool { values.isEmpty }
    var hasSignature: Bool { values["signature"] != nil }

    /// Nil if no field has this spelling.
    static func name(_ spelling: String) -> String? { spellings.first { $0.contains(spelling) }?.first }

    mutating func set(_ name: String, _ value: String) throws(ValidationError) {
        if let known = values[name], known != value {
            throw ValidationError("\(name) is given twice: as \"\(known)\" and as \"\(value)\".")
        }
        values[name] = value
    }

    /// Parses `NAME=VALUE` arguments; the value may contain equals signs.
    mutating func set(arguments: [String]) throws(ValidationError) {
        for argument in arguments {
            guard let equals = argument.firstIndex(of: "=") else {
                throw ValidationError("\"\(argument)\" is not of the form NAME=VALUE. (Give a JWS with --jws.)")
            }
            guard let name = Self.name(String(argument[..<equals])) else {
                let known = Self.names.joined(separator: ", ")
                throw ValidationError("\"\(argument[..<equals])\" is not a field; the fields are \(known).")
            }
            try set(name, String(argument[argument.index(after: equals)...]))
        }
    }

    /// - Throws: an error that names every missing field.
    func answer() throws(ValidationError) -> LegacyAnswer {
        let missing = Self.names.filter { values[$0] == nil && !Self.optional.contains($0) }
        guard missing.isEmpty else {
            let names = missing.map { $0 == "appBundleID" ? "--app" : $0 }.joined(separator: ", ")
            throw ValidationError("For a legacy signature, this is missing: \(names). Give it as NAME=VALUE.")
        }
        let (user, other) = users
        return LegacyAnswer(
            bundleID: self["appBundleID"], keyID: self["keyIdentifier"], productID: self["productId"],
            offerID: self["offerIdentifier"], user: user, otherUser: other, nonce: self["nonce"],
            timestamp: self["timestamp"], signature: self["signature"])
    }

    private subscript(name: String) -> String { values[name] ?? "" }

    /// An empty name counts as none. StoreKit 2 signs the account token if both are given.
    private var users: (LegacyAnswer.User, other: String?) {
        switch (self["appAccountToken"], self["applicationUsername"]) {
        case ("", ""): (.nobody, nil)
        case (let token, ""): (.appAccountToken(token), nil)
        case ("", let name): (.applicationUsername(name), nil)
        case (let token, let name): (.appAccountToken(token), name)
        }
    }
}
