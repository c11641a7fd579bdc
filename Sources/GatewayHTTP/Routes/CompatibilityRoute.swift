import Hummingbird
import SigningGateway
import SigningKit
import StrictJSON

/// `GET /?appBundleID=…&keyIdentifier=…&…`: what apps call that were built on the well-known Node.js example of
/// subscription offers. The same parameters, the same answer; but what the example signs as the text "undefined" is an
/// error here.
struct CompatibilityRoute {
    static let path = "/"

    let gateway: LiveGateway

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let generation = gateway.current
        let client = try Caller.identify(request, context, in: generation)
        let query = try QueryString(request.uri.query)
        if let unknown = query.names.first(where: { !Self.parameters.containsExactly($0) }) {
            let known = Self.parameters.joined(separator: ", ")
            throw Problem(
                .invalidParameter, "The parameter \"\(unknown)\" is not known here; the parameters are \(known).",
                field: unknown)
        }
        let values = try Self.parameters.map { name throws(Problem) in try query.required(name) }
        try refuseWordsForNothing(values)
        let route = try context.route(
            for: client, app: values[0], feature: "legacy-promotional-offer", keyID: values[1], in: generation)
        try context.admit(client, along: route, in: generation)
        return .json(try await generation.dispatcher.sign(body(values), along: route))
    }

    private static let userParameter = "applicationUsername"
    private static let parameters = [
        "appBundleID", "keyIdentifier", "productIdentifier", "offerIdentifier", userParameter,
    ]

    /// What JavaScript, Objective-C, Swift, Python and Ruby write into a text for a value that is absent, and JavaScript for an
    /// object.
    private static let wordsForNothing = [
        "undefined", "null", "(null)", "(undefined)", "<null>", "NULL", "nil", "None", "[object Object]",
    ]

    private func refuseWordsForNothing(_ values: [String]) throws(Problem) {
        for (name, value) in zip(Self.parameters, values).dropFirst(2) where Self.wordsForNothing.containsExactly(value)
        {
            let cure =
                name == Self.userParameter
                ? "when there is no user, send it empty: \(name)=" : "send the value, and look for it in the app"
            throw Problem(
                .invalidRequest,
                "The parameter \"\(name)\" is the text \"\(value)\", which a program writes for a value that it does not have; "
                    + "\(cure).",
                field: name)
        }
    }

    /// The same request as JSON, so that there is one way to a signature.
    private func body(_ values: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in zip(Self.parameters, values).dropFirst(2) {
                writer.name(escaping: name)
                writer.string(value)
            }
        }
        return writer.bytes
    }
}
