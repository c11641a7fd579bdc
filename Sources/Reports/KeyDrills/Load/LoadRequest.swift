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
        case .token: "/v1/apps/\(Self.encoded(bundleID))/promotional-offer"
        case .legacy: "/v1/apps/\(Self.encoded(bundleID))/legacy-promotional-offer"
        case .named(let keyID):
            "/?appBundleID=\(Self.encoded(bundleID))&keyIdentifier=\(Self.encoded(keyID))"
                + "&productIdentifier=\(Self.encoded(productID))"
                + "&offerIdentifier=\(Self.encoded(offerID))&applicationUsername=\(Self.username)"
        }
    }

    /// Nil for a `GET` request.
    var body: [UInt8]? {
        if case .named = form { return nil }
        return JSONText.encode(["productId": productID, "offerIdentifier": offerID])
    }

    /// Percent-encodes all but the unreserved characters of RFC 3986 §2.3.
    private static func encoded(_ text: String) -> String {
        let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            kept.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
