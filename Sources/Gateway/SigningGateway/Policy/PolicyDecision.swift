/// Whether a client may have something signed, and which rule decides.
public enum PolicyDecision: Equatable, Sendable {
    /// - Parameter by: the origin of the rule.
    case allowed(by: String)
    case denied(Denial)
}

/// A denied part of a request. The description names only what the client itself requested.
public struct Denial: Error, Equatable, Sendable {
    /// The first thing that no rule allows, in the order app, feature, key, product, offer.
    public let thing: DeniedThing
    public let client: String
    /// For the operator: the origin of the first rule that allowed all before `thing`, or of the client if none did.
    public let origin: String

    public init(of thing: DeniedThing, client: String, origin: String) {
        self.thing = thing
        self.client = client
        self.origin = origin
    }
}

/// A part of a request, with the identifier from the request.
public enum DeniedThing: Equatable, Sendable {
    /// The app may exist or not.
    case app(String)
    case feature(String)
    case key(String)
    /// No single rule allows it together with the things before it.
    case product(String)
    case offer(String)
}

extension Denial: CustomStringConvertible {
    /// The text for the caller.
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
