/// Why a note, a checkpoint or a note's key is refused. The description is a sentence.
public enum NoteError: Error, Hashable, Sendable {
    /// Larger than `SignedNote.maximumSize`, or more signatures than `SignedNote.maximumSignatures`.
    case tooLarge
    /// Not UTF-8, or a control character other than newline.
    case notText
    /// No empty line, or no signature after it.
    case unsigned
    /// The text, or the last signature, does not end with a newline.
    case missingNewline
    /// The signature with this number, from 1, has the wrong format.
    case malformedSignature(Int)
    /// The name is empty, or contains white space, a control character or a plus.
    case invalidName
    /// A key's text has the wrong format. The error omits the text, which may be secret.
    case malformedKey
    /// The key ID does not belong to the key.
    case otherKeyID(name: String)
    /// The signature type is not supported (C2SP signed-note).
    case unsupportedKey(type: UInt8)
    /// A known key's signature does not fit this text.
    case wrongSignature(name: String)
    /// No known key signed.
    case unknownSigners([String])
    /// The log's own key did not sign, or is not among the known keys.
    case notSignedByLog(origin: String)
    case notCheckpoint(CheckpointFlaw)
    /// The library refused to sign.
    case cannotSign
}

/// The format error of a checkpoint's text (C2SP tlog-checkpoint).
public enum CheckpointFlaw: String, Sendable {
    case lines = "it has fewer than three lines"
    case origin = "its first line, the origin, is empty"
    case size = "its second line is not a size, in decimal digits without leading zeros"
    case root = "its third line is not the Base64 of 32 bytes"
    case extensions = "one of its further lines is empty or more than a line"
}

extension NoteError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge:
            "The note is too long: at most \(SignedNote.maximumSize) bytes and "
                + "\(SignedNote.maximumSignatures) signatures are read."
        case .notText: "The note is not plain UTF-8 text: it holds other bytes, or control characters."
        case .unsigned: "The note has no signatures, which must follow an empty line."
        case .missingNewline: "The note's text and its last signature must each end with a newline."
        case .malformedSignature(let number):
            "Signature \(number) of the note is not an em dash, a name and Base64, with a space between each."
        case .invalidName: "A key's name must not be empty or contain white space, a control character or a plus."
        case .malformedKey:
            "The key is not a name, 8 hexadecimal digits in lower case and Base64, with a plus between each."
        case .otherKeyID(let name): "The key ID of \(name) does not belong to its key: a character was changed."
        case .unsupportedKey(let type):
            "A key of type \(type) cannot be used: Ed25519 (1), ECDSA with P-256 (2) and the Ed25519 key of a witness (4) can."
        case .wrongSignature(let name): "The signature by \(name) is wrong: the note is not what was signed."
        case .unknownSigners(let names):
            "None of the known keys signed the note; its signatures are by \(names.joined(separator: ", "))."
        case .notSignedByLog(let origin):
            "The checkpoint of \(origin) has no signature by a known key of that name."
        case .cannotSign: "The log key could not sign."
        case .notCheckpoint(let flaw): "The note is not a checkpoint: \(flaw.rawValue)."
        }
    }
}
