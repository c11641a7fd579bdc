import SigningKit
import StrictJSON

/// A header or claim of a token: its name, and where the value comes from.
struct TokenMember: Sendable {
    enum Value: Sendable {
        /// The same text in every token.
        case text(String)
        /// A text from the configuration.
        case identifier(ServiceIdentifier)
        /// Two texts from the configuration, with a period between them.
        case joined(ServiceIdentifier, ServiceIdentifier)
        case keyID
        /// A whole number, in seconds since 1970.
        case issuedAt, expiresAt
        /// A new UUID for each token.
        case nonce
        case subject
        /// An array of strings; absent without an element.
        case scopes, origins
        /// A string with commas between the origins.
        case joinedOrigins
    }

    let name: String
    let value: Value

    init(_ name: String, _ value: Value) {
        (self.name, self.value) = (name, value)
    }

    /// `typ`, which Apple documents for some tokens only.
    static let type = TokenMember("typ", .text("JWT"))

    /// The member as `verify --explain` expects it.
    var documented: ServiceTokenMember {
        switch value {
        case .text(let fixed): ServiceTokenMember(name, .string, fixed: fixed)
        case .identifier(let identifier): ServiceTokenMember(name, .string, identifier: identifier)
        case .issuedAt, .expiresAt: ServiceTokenMember(name, .number)
        case .scopes, .origins: ServiceTokenMember(name, .array, isRequired: false)
        case .joined, .keyID, .nonce, .subject, .joinedOrigins: ServiceTokenMember(name, .string)
        }
    }

    func write(_ order: ServiceTokenOrder, _ times: ServiceTokenTimes, to writer: inout JSONWriter) {
        func list(_ texts: [String]) {
            if texts.isEmpty { return }
            writer.name(escaping: name)
            writer.array { writer in for text in texts { writer.string(text) } }
        }
        func text(_ text: String) {
            writer.name(escaping: name)
            writer.string(text)
        }
        func integer(_ number: Int64) {
            writer.name(escaping: name)
            writer.integer(number)
        }
        switch value {
        case .text(let fixed): text(fixed)
        case .identifier(let identifier): text(order.identifiers[identifier] ?? "")
        case .joined(let first, let second):
            text("\(order.identifiers[first] ?? "").\(order.identifiers[second] ?? "")")
        case .keyID: text(order.keyID)
        case .issuedAt: integer(times.issuedAt)
        case .expiresAt: integer(times.expiresAt)
        case .nonce: text(order.nonce.description)
        case .subject: text(order.choices.subject ?? "")
        case .scopes: list(order.choices.scopes)
        case .origins: list(order.choices.origins)
        case .joinedOrigins: text(order.choices.origins.joined(separator: ","))
        }
    }
}
