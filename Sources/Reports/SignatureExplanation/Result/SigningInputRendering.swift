import Crypto
import Encodings

/// The expected signing input in readable form. It contains user data: show it only to the supplier of that data.
public struct SigningInputRendering: Encodable, Sendable {
    public struct Part: Encodable, Equatable, Sendable {
        /// The name of the field or part, in Apple's spelling.
        public let name: String
        /// The text, with invisible characters written as `<U+2063>`.
        public let text: String
        /// In bytes of UTF-8.
        public let length: Int

        init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            text = VisibleText.of(String(decoding: bytes, as: UTF8.self))
            length = bytes.count
        }
    }

    public let parts: [Part]
    /// `U+2063`, or the dot of a JWS.
    public let separator: String
    /// In bytes, separators included.
    public let length: Int
    /// The SHA-256 of all bytes in hexadecimal, to compare with the digest on the signing server.
    public let sha256: String

    init(_ parts: [Part], separator: String, signingInput: [UInt8]) {
        self.parts = parts
        self.separator = separator
        length = signingInput.count
        sha256 = Hexadecimal.encode(SHA256.hash(data: signingInput))
    }

    /// The parts in one line; `␣` stands for U+2063.
    public var line: String { parts.map(\.text).joined(separator: separator == "." ? "." : "␣") }
}
