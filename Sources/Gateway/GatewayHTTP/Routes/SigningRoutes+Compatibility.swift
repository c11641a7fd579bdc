import HummingbirdCore
import Signing
import SigningKit
import StrictJSON

/// `GET /?appBundleID=…&keyIdentifier=…&…`: the interface of the well-known Node.js example of subscription offers. A
/// value that the example signs as the text "undefined" is an error here.
extension SigningRoutes {
    static let compatibility = "/"

    @Sendable func compatibility(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let snapshot = gateway.current
        let client = try await scope.identify(request, in: snapshot)
        let query = try QueryString(request.uri.query, allowing: Self.parameters)
        let values = try Self.parameters.map { name throws(Problem) in try query.required(name) }
        for (name, value) in zip(Self.parameters, values).dropFirst(2)
        where Self.absentValueTexts.containsExactly(value) {
            throw Self.absentValue(name, value)
        }
        let route = try scope.resolve(
            for: client, app: values[0], feature: "legacy-promotional-offer", keyID: values[1], in: snapshot)
        try await scope.admit(client, for: route, in: snapshot)
        // The same request as JSON, so that all routes sign in the same way.
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in zip(Self.parameters, values).dropFirst(2) {
                writer.name(escaping: name)
                writer.string(value)
            }
        }
        return .json(try await snapshot.dispatcher.sign(writer.bytes, for: route))
    }

    private static let userParameter = "applicationUsername"
    private static let parameters = [
        "appBundleID", "keyIdentifier", "productIdentifier", "offerIdentifier", userParameter,
    ]

    /// Texts for an absent value in JavaScript, Objective-C, Swift, Python and Ruby, and for an object in JavaScript.
    private static let absentValueTexts = [
        "undefined", "null", "(null)", "(undefined)", "<null>", "NULL", "nil", "None", "[object Object]",
    ]

    private static func absentValue(_ name: String, _ value: String) -> Problem {
        let cure =
            name == userParameter
            ? "when there is no user, send it empty: \(name)=" : "send the value, and look for it in the app"
        return Problem(
            .invalidRequest,
            "The parameter \"\(name)\" is the text \"\(value)\", which a program writes if it has no value; \(cure).",
            field: name)
    }
}
