import Encodings
import SigningKit
import StrictJSON

/// The three headers of the request, by their names.
public struct CloudKitHeaders: JSONWritable, Sendable {
    public let date: String
    public let signature: P256Signature
    public let grant: Grant

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("X-Apple-CloudKit-Request-KeyID", grant.app.keyID)
            writer.member("X-Apple-CloudKit-Request-ISO8601Date", date)
            writer.member(
                "X-Apple-CloudKit-Request-SignatureV1",
                unescaped: Base64.standard.encode(signature.derRepresentation))
        }
    }
}
