import Encodings

/// A JWK set (RFC 7517 §5) of points: x ‖ y, 32 bytes each.
enum JWK {
    static func set(_ points: [String: [UInt8]]) -> [UInt8] {
        let keys = points.map { keyID, point in
            let (x, y) = (text(point.prefix(32)), text(point.suffix(32)))
            return #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","kid":"\#(keyID)","use":"sig"}"#
        }
        return Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8)
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64.url.encode(Array(bytes)), as: UTF8.self)
    }
}
