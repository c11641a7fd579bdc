import Crypto
import Encodings
import StrictJSON

/// The expected signing input in readable form. It contains user data: show it only to the supplier of that data.
public struct SigningInputRendering: Sendable {
    public struct Part: Encodable, Equatable, Sendable {
        /// The name of the field or part, in Apple's spelling.
        public let name: String
        /// The text, with invisible characters written as `<U+2063>`.
        public let text: String
        /// In bytes of UTF-8.
        public let length: Int
    }

    public let parts: [Part]
    /// The visible form of the separator: `␣` for U+2063, or the dot of a JWS.
    public let separator: String
    /// In bytes, separators included.
    public let length: Int
    /// The SHA-256 of all bytes in hexadecimal, to compare with the digest on the signing server.
    public let digest: String

    init(_ text: LegacyText, of answer: LegacyAnswer) {
        parts = LegacyField.allCases.map { field in
            Part(name: field.name(in: answer), text: ScalarName.visible(text[field]), length: text[field].utf8.count)
        }
        separator = "␣"
        let bytes = text.bytes
        length = bytes.count
        digest = Hexadecimal.encode(SHA256.hash(data: bytes))
    }

    init(header: [UInt8], payload: [UInt8], signingInput: [UInt8]) {
        parts = [("header", header), ("payload", payload)].map { name, bytes in
            Part(name: name, text: ScalarName.visible(String(decoding: bytes, as: UTF8.self)), length: bytes.count)
        }
        separator = "."
        length = signingInput.count
        digest = Hexadecimal.encode(SHA256.hash(data: signingInput))
    }

    public var line: String { parts.map(\.text).joined(separator: separator) }
}

extension SigningInputRendering: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "parts": parts, "separator": separator == "." ? "." : "U+2063", "length": length, "sha256": digest,
        ]
        try members.encode(to: encoder)
    }
}
