public import AppStoreJWS
import Encodings
public import StrictJSON

/// The signed request as StoreKit takes it: `jws` for `AdvancedCommerceProduct.purchase(compactJWS:)`, and
/// `advancedCommerceData`, once decoded, for the purchase option of that name.
public struct AdvancedCommerceAnswer: JSONWritable, Sendable {
    public let signed: JWSAnswer

    init(_ signed: JWSAnswer) {
        self.signed = signed
    }

    /// Padded Base64 of `{"signatureInfo":{"token":"<jws>"}}`, as ASCII.
    public var advancedCommerceData: [UInt8] {
        var data = JSONWriter(capacity: signed.jws.count + 32)
        data.object { data in
            data.name("signatureInfo")
            data.object { $0.member("token", unescaped: signed.jws) }
        }
        return Base64.standard.encode(data.bytes)
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            signed.writeMembers(to: &writer)
            writer.member("advancedCommerceData", unescaped: advancedCommerceData)
        }
    }
}
