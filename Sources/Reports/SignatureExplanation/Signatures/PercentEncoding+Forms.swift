import Encodings

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
