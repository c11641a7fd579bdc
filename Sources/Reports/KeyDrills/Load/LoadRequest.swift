import Encodings
import StrictJSON

/// A signing request, in one of the forms that a drill sends.
public enum LoadRequest: Sendable {
    /// `POST /v1/apps/{app}/promotional-offer`: a JWS by the active key.
    case token
    /// `POST /v1/apps/{app}/legacy-promotional-offer`: a signature by the active key over the joined fields.
    case legacy
    /// `GET /?keyIdentifier=…`: the same signature by the named key.
    case named(keyID: String)

    static let productID = "com.example.drill.monthly"
    static let offerID = "drill"
    /// The user of the offer. The named form requires one.
    static let username = "drill"

    /// With a leading slash.
    func path(_ bundleID: String) -> String {
        let app = PercentEncoding.encode(bundleID)
        return switch self {
        case .token: "/v1/apps/\(app)/promotional-offer"
        case .legacy: "/v1/apps/\(app)/legacy-promotional-offer"
        case .named(let keyID):
            "/?appBundleID=\(app)&keyIdentifier=\(PercentEncoding.encode(keyID))"
                + "&productIdentifier=\(Self.productID)&offerIdentifier=\(Self.offerID)&applicationUsername=\(Self.username)"
        }
    }

    /// Nil for a `GET` request.
    var body: [UInt8]? {
        if case .named = self { return nil }
        return JSONText.encode(["productId": Self.productID, "offerIdentifier": Self.offerID])
    }
}
