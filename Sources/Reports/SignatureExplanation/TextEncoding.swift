import Encodings

/// Wrong encodings of a text. `map` returns bytes that are not UTF-8 unchanged.
enum TextEncoding {
    static func utf16(_ utf8: [UInt8], bigEndian: Bool = false) -> [UInt8] {
        String(decoding: utf8, as: UTF8.self).utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return bigEndian ? [high, low] : [low, high]
        }
    }

    /// Takes each byte for a Latin-1 character, and encodes it in UTF-8.
    static func utf8(ofLatin1 bytes: [UInt8]) -> [UInt8] { bytes.flatMap { Array(Unicode.Scalar($0).utf8) } }

    /// One byte for each character; `?` for a character that Latin-1 does not have.
    static func latin1(_ utf8: [UInt8]) -> [UInt8] {
        String(decoding: utf8, as: UTF8.self).unicodeScalars.map { UInt8(exactly: $0.value) ?? UInt8(ascii: "?") }
    }

    static func map(_ utf8: [UInt8], _ change: (String) -> String) -> [UInt8] {
        String(validating: utf8, as: UTF8.self).map { Array(change($0).utf8) } ?? utf8
    }
}

extension PercentEncoding.Form {
    /// The variants that servers use by mistake.
    static let all: [Self] = [
        .strict,
        // encodeURIComponent of JavaScript
        Self(kept: "-._~!*'()"),
        // encodeURI of JavaScript
        Self(kept: "-._~!*'();/?:@&=+$,#"),
        // .urlQueryAllowed of Foundation
        Self(kept: "-._~!$&'()*+,/:;=?@"),
        // quote of Python
        Self(kept: "-._~/"),
        // HTML forms (URLSearchParams, Java's URLEncoder), PHP's urlencode, and the same with ~
        Self(kept: "*-._", spaceAsPlus: true), Self(kept: "-._", spaceAsPlus: true),
        Self(kept: "-._~", spaceAsPlus: true),
        // HttpUtility.UrlEncode of .NET, and its Uri.EscapeDataString in lower case
        Self(kept: "-_.!*()", spaceAsPlus: true, isUppercase: false), Self(kept: "-._~", isUppercase: false),
    ]
}
