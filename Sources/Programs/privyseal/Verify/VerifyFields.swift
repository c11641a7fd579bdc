import ArgumentParser
import SignatureExplanation

/// The fields of a legacy answer, from its JSON, arguments and `--app`. A repeated field must have the same value.
struct VerifyFields {
    enum Name: CaseIterable {
        case app, keyID, product, offer, accountToken, username, nonce, timestamp, signature

        /// Messages use the first one.
        var spellings: [String] {
            switch self {
            case .app: ["appBundleID", "appBundleId", "bundleId", "bid"]
            case .keyID: ["keyIdentifier", "keyId", "kid"]
            case .product: ["productId", "productIdentifier"]
            case .offer: ["offerIdentifier", "offerId", "subscriptionOfferId"]
            case .accountToken: ["appAccountToken"]
            case .username: ["applicationUsername"]
            case .nonce: ["nonce"]
            case .timestamp: ["timestamp"]
            case .signature: ["signature", "encodedSignature"]
            }
        }

        init?(_ spelling: String) {
            guard let name = Self.allCases.first(where: { $0.spellings.contains(spelling) }) else { return nil }
            self = name
        }

        var isRequired: Bool { self != .accountToken && self != .username }
    }

    private var values: [Name: String] = [:]

    /// The names with their other spellings, one per line.
    static let help =
        Name.allCases
        .map { "  " + $0.spellings.joined(separator: ", ") + ($0.isRequired ? "" : " (optional)") }
        .joined(separator: "\n")

    mutating func set(_ name: Name, _ value: String) throws(ValidationError) {
        if let known = values[name], known != value {
            throw ValidationError("\(name.spellings[0]) is given twice: as \"\(known)\" and as \"\(value)\".")
        }
        values[name] = value
    }

    /// Parses `NAME=VALUE` arguments; the value may contain equals signs.
    mutating func set(arguments: [String]) throws(ValidationError) {
        for argument in arguments {
            guard let equals = argument.firstIndex(of: "=") else {
                throw ValidationError("\"\(argument)\" is not of the form NAME=VALUE. (Give a JWS with --jws.)")
            }
            guard let name = Name(String(argument[..<equals])) else {
                let known = Name.allCases.map { $0.spellings[0] }.joined(separator: ", ")
                throw ValidationError("\"\(argument[..<equals])\" is not a field; the fields are \(known).")
            }
            try set(name, String(argument[argument.index(after: equals)...]))
        }
    }

    /// - Throws: an error that names every missing field.
    func answer() throws(ValidationError) -> LegacyAnswer {
        let missing = Name.allCases.filter { $0.isRequired && values[$0] == nil }
        guard missing.isEmpty else {
            let names = missing.map { $0 == .app ? "--app" : $0.spellings[0] }.joined(separator: ", ")
            throw ValidationError("For a legacy signature, this is missing: \(names). Give it as NAME=VALUE.")
        }
        let (user, other) = users()
        return LegacyAnswer(
            bundleID: self[.app], keyID: self[.keyID], productID: self[.product], offerID: self[.offer], user: user,
            otherUser: other, nonce: self[.nonce], timestamp: self[.timestamp], signature: self[.signature])
    }

    var isEmpty: Bool { values.isEmpty }

    private subscript(name: Name) -> String { values[name] ?? "" }

    /// An empty name counts as none. StoreKit 2 signs the account token if both are given.
    private func users() -> (LegacyAnswer.User, other: String?) {
        switch (self[.accountToken], self[.username]) {
        case ("", ""): (.nobody, nil)
        case (let token, ""): (.appAccountToken(token), nil)
        case ("", let name): (.applicationUsername(name), nil)
        case (let token, let name): (.appAccountToken(token), name)
        }
    }
}
