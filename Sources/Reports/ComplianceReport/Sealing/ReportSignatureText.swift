import AuditKit
import Crypto
import Encodings

/// The signed text of a report, as a note (C2SP signed-note): the report's ID and the digests of its two files. Its
/// first two lines differ from those of every checkpoint, so neither can be mistaken for the other.
public struct ReportSignatureText: Sendable, Equatable {
    private static let kind = "privyseal/compliance-report@1"

    public var id: String
    /// The SHA-256 in hexadecimal digits, as in `html`.
    public var json: String
    public var html: String

    public init(id: String, json: String, html: String) {
        self.id = id
        self.json = json
        self.html = html
    }

    var text: String { "\(Self.kind)\nid \(id)\njson sha256:\(json)\nhtml sha256:\(html)\n" }

    init?(parsing text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, lines[0] == Self.kind, lines[4].isEmpty,
            lines[1].hasPrefix("id "), lines[2].hasPrefix("json sha256:"), lines[3].hasPrefix("html sha256:")
        else { return nil }
        self.init(
            id: String(lines[1].dropFirst(3)), json: String(lines[2].dropFirst(12)),
            html: String(lines[3].dropFirst(12)))
    }

    /// The SHA-256 in hexadecimal digits.
    public static func digest(of bytes: some Sequence<UInt8>) -> String {
        Hexadecimal.encode(SHA256.hash(data: Array(bytes)))
    }
}
