/// Whether a client may have something signed, and where that is written.
public enum PolicyDecision: Equatable, Sendable {
    /// - Parameter by: the origin of the rule.
    case allowed(by: String)
    case denied(Denial)
}

/// What a client may not have. It names only what the client itself asked for.
public struct Denial: Error, Equatable, Sendable {
    /// The first thing that no rule allows, in the order app, feature, key, product, offer.
    public let thing: DeniedThing
    public let client: String
    /// For the operator: the rule that had allowed everything before the thing, the first where there are more; the
    /// client, where none allows even the app.
    public let origin: String

    public init(of thing: DeniedThing, client: String, origin: String) {
        self.thing = thing
        self.client = client
        self.origin = origin
    }
}

/// With the identifier, as it was asked for.
public enum DeniedThing: Equatable, Sendable {
    /// Whether or not there is such an app.
    case app(String)
    case feature(String)
    case key(String)
    /// With what the request names before it: no rule allows all of that at once.
    case product(String)
    case offer(String)
}

extension Denial: CustomStringConvertible {
    /// For the caller.
    public var description: String {
        switch thing {
        case .app(let id): "The client \(client) may not use the app \"\(id)\"."
        case .feature(let id): "The client \(client) may not use the feature \"\(id)\" of this app."
        case .key(let id): "The client \(client) may not name the key \"\(id)\"."
        case .product(let id): "The client \(client) may not have the product \"\(id)\" signed in this request."
        case .offer(let id): "The client \(client) may not have the offer \"\(id)\" signed in this request."
        }
    }
}
