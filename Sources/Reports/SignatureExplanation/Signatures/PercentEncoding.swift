/// Percent-encoding (RFC 3986 §2.1), and the `+` of HTML forms.
enum PercentEncoding {
    /// A variant of the encoding. The characters in `kept`, and ASCII letters and digits, stay unencoded.
    struct Form: Sendable {
        let kept: String
        var spaceAsPlus = false
        var isUppercase = true

        /// The unreserved characters of RFC 3986 §2.3.
        static let strict = Form(kept: "-._~")

        static let all = [
            strict,
            // encodeURIComponent of JavaScript
            Form(kept: "-._~!*'()"),
            // encodeURI of JavaScript
            Form(kept: "-._~!*'();/?:@&=+$,#"),
            // .urlQueryAllowed of Foundation
            Form(kept: "-._~!$&'()*+,/:;=?@"),
            // quote of Python
            Form(kept: "-._~/"),
            // HTML forms (URLSearchParams, Java's URLEncoder), PHP's urlencode, and the same with ~
            Form(kept: "*-._", spaceAsPlus: true), Form(kept: "-._", spaceAsPlus: true),
            Form(kept: "-._~", spaceAsPlus: true),
            // HttpUtility.UrlEncode of .NET, and its Uri.EscapeDataString in lower case
            Form(kept: "-_.!*()", spaceAsPlus: true, isUppercase: false), Form(kept: "-._~", isUppercase: false),
        ]
    }

    static func encode(_ text: String, _ form: Form = .strict) -> String {
        let kept = Set(form.kept.utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isAlphanumeric(byte) || kept.contains(byte) {
                encoded.append(byte)
            } else if byte == 0x20, form.spaceAsPlus {
                encoded.append(UInt8(ascii: "+"))
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(contentsOf: Hexadecimal.encode([byte], uppercase: form.isUppercase).utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Nil if a `%` is not followed by two hexadecimal digits.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                decoded.append(text[index])
                index += 1
                continue
            }
            guard index + 2 < text.count, let byte = Hexadecimal.decode(Array(text[index + 1...index + 2])) else {
                return nil
            }
            decoded += byte
            index += 3
        }
        return decoded
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
