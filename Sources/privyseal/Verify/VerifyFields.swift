import ArgumentParser
import SignatureExplanation

/// The fields of a legacy answer, gathered from its JSON, from arguments and from `--app`. A field may be said twice, but
/// not in two ways.
struct VerifyFields {
    enum Name: CaseIterable {
        case app, keyID, product, offer, accountToken, username, nonce, timestamp, signature

        /// The first is the one that messages use.
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

    /// The names and their other spellings, one to a line.
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

    /// Takes arguments of the form NAME=VALUE; the value may hold more equals signs.
    mutating func set(arguments: [String]) throws(ValidationError) {
        for argument in arguments {
            guard let equals = argument.firstIndex(of: "=") else {
                throw ValidationError("\"\(argument)\" is not of the form NAME=VALUE. (A JWS goes behind --jws.)")
            }
            guard let name = Name(String(argument[..<equals])) else {
                let known = Name.allCases.map { $0.spellings[0] }.joined(separator: ", ")
                throw ValidationError("\"\(argument[..<equals])\" is not a field; the fields are \(known).")
            }
            try set(name, String(argument[argument.index(after: equals)...]))
        }
    }

    /// - Throws: naming every field that is missing.
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

    /// An empty name is no name. With two, the account token is what StoreKit 2 signs.
    private func users() -> (LegacyAnswer.User, other: String?) {
        switch (self[.accountToken], self[.username]) {
        case ("", ""): (.nobody, nil)
        case (let token, ""): (.appAccountToken(token), nil)
        case ("", let name): (.applicationUsername(name), nil)
        case (let token, let name): (.appAccountToken(token), name)
        }
    }
}
