import Encodings

/// Wrong encodings of a text. `map` returns bytes that are not UTF-8 unchanged.
enum TextEncoding {
    static func utf16(_ utf8: [UInt8], bigEndian: Bool = false) -> [UInt8] {
        String(decoding: utf8, as: UTF8.self).utf16.flatMap { unit in
            withUnsafeBytes(of: bigEndian ? unit.bigEndian : unit.littleEndian, Array.init)
        }
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
