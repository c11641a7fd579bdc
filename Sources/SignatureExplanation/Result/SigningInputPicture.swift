import Crypto
public import StrictJSON

/// The bytes that should have been signed, made visible. It holds user data: it is shown to whoever gave that data.
public struct SigningInputPicture: Sendable {
    /// One part of the bytes.
    public struct Part: Equatable, Sendable {
        /// The field or part's name, in Apple's spelling.
        public let name: String
        /// Its text, with characters that do not show written as `<U+2063>`.
        public let text: String
        /// In bytes of UTF-8.
        public let length: Int
    }

    public let parts: [Part]
    /// What stands between the parts, made visible: `␣` for U+2063, or the dot of a JWS.
    public let separator: String
    /// The length of all bytes, separators included.
    public let length: Int
    /// SHA-256 of all bytes, in hexadecimal: to compare with what the signing server hashed.
    public let digest: String

    init(_ text: LegacyText, of answer: LegacyAnswer) {
        parts = LegacyField.allCases.map { field in
            Part(name: field.name(in: answer), text: Self.visible(text[field]), length: text[field].utf8.count)
        }
        separator = "␣"
        let bytes = text.bytes
        length = bytes.count
        digest = Hexadecimal.encode(SHA256.hash(data: bytes))
    }

    init(header: [UInt8], payload: [UInt8], signingInput: [UInt8]) {
        parts = [("header", header), ("payload", payload)].map { name, bytes in
            Part(name: name, text: Self.visible(String(decoding: bytes, as: UTF8.self)), length: bytes.count)
        }
        separator = "."
        length = signingInput.count
        digest = Hexadecimal.encode(SHA256.hash(data: signingInput))
    }

    /// The parts' texts in one line.
    public var line: String { parts.map(\.text).joined(separator: separator) }

    /// Nothing in a field can move a terminal's cursor or hide.
    private static func visible(_ text: String) -> String { ScalarName.visible(text) }
}

extension SigningInputPicture: JSONWritable {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("parts")
            writer.array { writer in
                for part in parts {
                    writer.object { writer in
                        writer.member("name", part.name)
                        writer.member("text", part.text)
                        writer.member("length", part.length)
                    }
                }
            }
            writer.member("separator", separator == "." ? "." : "U+2063")
            writer.member("length", length)
            writer.member("sha256", digest)
        }
    }
}
