import Encodings
import StrictJSON

/// A signing request, in one of the forms that a drill sends.
public struct LoadRequest: Sendable, Equatable {
    public enum Form: Sendable, Equatable {
        /// `POST /v1/apps/{app}/promotional-offer`: a JWS by the active key.
        case token
        /// `POST /v1/apps/{app}/legacy-promotional-offer`: a signature by the active key over the joined fields.
        case legacy
        /// `GET /?keyIdentifier=…`: the same signature by the named key.
        case named(keyID: String)
    }

    public var form: Form
    public var bundleID: String
    public var productID: String
    public var offerID: String

    public init(_ form: Form, bundleID: String, productID: String, offerID: String) {
        self.form = form
        self.bundleID = bundleID
        self.productID = productID
        self.offerID = offerID
    }

    /// The user of the offer. The named form requires one.
    static let username = "drill"

    /// With a leading slash.
    var path: String {
        switch form {
        case .token: "/v1/apps/\(PercentEncoding.encode(bundleID))/promotional-offer"
        case .legacy: "/v1/apps/\(PercentEncoding.encode(bundleID))/legacy-promotional-offer"
        case .named(let keyID):
            "/?appBundleID=\(PercentEncoding.encode(bundleID))&keyIdentifier=\(PercentEncoding.encode(keyID))"
                + "&productIdentifier=\(PercentEncoding.encode(productID))"
                + "&offerIdentifier=\(PercentEncoding.encode(offerID))&applicationUsername=\(Self.username)"
        }
    }

    /// Nil for a `GET` request.
    var body: [UInt8]? {
        if case .named = form { return nil }
        return JSONText.encode(["productId": productID, "offerIdentifier": offerID])
    }
}
