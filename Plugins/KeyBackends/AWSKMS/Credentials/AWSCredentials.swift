import SigningKit

/// Credentials for AWS, with the time until which they are valid.
struct AWSCredentials: Sendable {
    let accessKeyID: String
    let secretAccessKey: Secret
    /// Nil for the credentials of an IAM user.
    let sessionToken: Secret?
    /// Nil if they do not expire.
    let expiry: Timestamp?
    /// Where they come from, such as `the environment`.
    let source: String

    init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String?, expiry: Timestamp? = nil, source: String
    ) throws(KeyError) {
        guard Self.isHeaderText(accessKeyID), !secretAccessKey.isEmpty,
            sessionToken.map({ Self.isHeaderText($0) }) ?? true
        else {
            throw .unavailable(
                "The AWS credentials from \(source) are not usable: a part is empty, or has a character that they never "
                    + "have.")
        }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = Secret.text(secretAccessKey)
        self.sessionToken = sessionToken.map { Secret.text($0) }
        (self.expiry, self.source) = (expiry, source)
    }

    /// Visible ASCII, at most 16 KiB: both texts become parts of headers.
    private static func isHeaderText(_ text: String) -> Bool {
        (1...16 << 10).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether AWS would treat both alike.
    func isSame(as other: AWSCredentials) -> Bool {
        accessKeyID == other.accessKeyID && sessionToken?.text == other.sessionToken?.text
    }
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    var description: String { "AWSCredentials from \(source)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret {
    static func text(_ text: String) -> Secret {
        var bytes = Array(text.utf8)
        return bytes.withUnsafeMutableBytes { bytes in
            defer { wipe(bytes) }
            return Secret(UnsafeRawBufferPointer(bytes))
        }
    }

    /// For a header, which is text.
    var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }
}
