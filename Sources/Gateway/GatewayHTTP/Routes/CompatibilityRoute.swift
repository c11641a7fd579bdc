import Hummingbird
import Signing
import SigningKit
import StrictJSON

/// `GET /?appBundleID=…&keyIdentifier=…&…`: the interface of the well-known Node.js example of subscription offers. A
/// value that the example signs as the text "undefined" is an error here.
struct CompatibilityRoute {
    static let path = "/"

    let gateway: SnapshotHolder

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let snapshot = gateway.current
        let client = try Caller.identify(request, context, in: snapshot)
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
            for: client, app: values[0], feature: "legacy-promotional-offer", keyID: values[1], in: snapshot)
        try context.admit(client, for: route, in: snapshot)
        return .json(try await snapshot.dispatcher.sign(body(values), for: route))
    }

    private static let userParameter = "applicationUsername"
    private static let parameters = [
        "appBundleID", "keyIdentifier", "productIdentifier", "offerIdentifier", userParameter,
    ]

    /// Texts for an absent value in JavaScript, Objective-C, Swift, Python and Ruby, and for an object in JavaScript.
    private static let absentValueTexts = [
        "undefined", "null", "(null)", "(undefined)", "<null>", "NULL", "nil", "None", "[object Object]",
    ]

    private func refuseWordsForNothing(_ values: [String]) throws(Problem) {
        for (name, value) in zip(Self.parameters, values).dropFirst(2)
        where Self.absentValueTexts.containsExactly(value) {
            let cure =
                name == Self.userParameter
                ? "when there is no user, send it empty: \(name)=" : "send the value, and look for it in the app"
            throw Problem(
                .invalidRequest,
                "The parameter \"\(name)\" is the text \"\(value)\", which a program writes if it has no value; "
                    + "\(cure).",
                field: name)
        }
    }

    /// The same request as JSON, so that all routes sign in the same way.
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
