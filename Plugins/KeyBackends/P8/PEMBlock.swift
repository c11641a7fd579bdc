import CLibCrypto

/// The text between `-----BEGIN LABEL-----` and `-----END LABEL-----` (RFC 7468). Key files may have a byte order mark,
/// CRLF, indentation, a body on one line, or newlines as the two characters `\n`, as environment variables and JSON do.
struct PEMBlock {
    let label: String
    /// The range between the BEGIN and END lines.
    let body: Range<Int>

    /// - Throws: `unfit` when a block has no end.
    static func find(in text: UnsafeRawBufferPointer) throws(KeyFileError) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var position = 0
        while let begin = index(of: beginMarker, in: text, from: position) {
            let labelStart = begin + beginMarker.utf8.count
            guard let labelEnd = index(of: dashes, in: text, from: labelStart), labelEnd - labelStart <= 64 else {
                throw withoutEnd
            }
            let label = String(decoding: text[labelStart..<labelEnd], as: UTF8.self)
            let bodyStart = labelEnd + dashes.utf8.count
            guard let end = index(of: "-----END \(label)-----", in: text, from: bodyStart) else { throw withoutEnd }
            blocks.append(PEMBlock(label: label, body: bodyStart..<end))
            position = end + 1
        }
        return blocks
    }

    func decode(_ text: UnsafeRawBufferPointer) throws(KeyFileError) -> SecureBytes {
        try Self.decode(UnsafeRawBufferPointer(rebasing: text[body]))
    }

    /// Decodes Base64 (RFC 4648 §4); skips white space and literal `\n` and `\r`.
    static func decode(_ text: UnsafeRawBufferPointer) throws(KeyFileError) -> SecureBytes {
        guard let characters = SecureBytes(capacity: text.count), let decoded = SecureBytes(capacity: text.count) else {
            throw .noRoom
        }
        var index = 0
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
            case UInt8(ascii: "\\"):
                guard index < text.count, text[index] == UInt8(ascii: "n") || text[index] == UInt8(ascii: "r") else {
                    throw notBase64
                }
                index += 1
            default: characters.append(byte)
            }
        }
        let padding = characters.bytes.suffix(2).count { $0 == UInt8(ascii: "=") }
        guard characters.count > 0, characters.count % 4 == 0 else { throw notBase64 }
        decoded.fill { room in
            let count = EVP_DecodeBlock(
                room.baseAddress?.assumingMemoryBound(to: UInt8.self),
                characters.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(characters.count))
            return Int(count) - padding
        }
        guard decoded.count > 0 else { throw notBase64 }
        return decoded
    }

    private static let withoutEnd = KeyFileError.unfit("is cut off: its PEM block has no end")
    private static let notBase64 = KeyFileError.unfit(
        "is damaged or not a private key: its content is not Base64")
    private static let beginMarker = "-----BEGIN "
    private static let dashes = "-----"

    private static func index(of marker: String, in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let marker = Array(marker.utf8)
        guard start >= 0, text.count - marker.count >= start else { return nil }
        return (start...text.count - marker.count).first { text[$0..<$0 + marker.count].elementsEqual(marker) }
    }
}
