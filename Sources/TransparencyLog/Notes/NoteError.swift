/// Why a note, a checkpoint or a key of one is refused. Each with a sentence.
public enum NoteError: Error, Hashable, Sendable {
    /// Longer than `SignedNote.maximumSize`, or with more signatures than `SignedNote.maximumSignatures`.
    case tooLarge
    /// Not UTF-8, or with a control character other than newline.
    case notText
    /// No empty line, or nothing behind it: nobody signed.
    case unsigned
    /// The text does not end with a newline.
    case openEnd
    /// The signature with this number, from 1, does not have the form.
    case malformedSignature(Int)
    /// Empty, or with white space, a control character or a plus.
    case unfitName
    /// A key's text without the form; never with the text, which may be secret.
    case malformedKey
    /// The key ID in the text is not that of the key.
    case otherKeyID(name: String)
    /// A signature type that nobody here can verify (C2SP signed-note).
    case unsupportedKey(type: UInt8)
    /// Of a known key, but not over this text.
    case wrongSignature(name: String)
    /// None of the known keys signed.
    case unknownSigners([String])
    /// The log's own key did not sign, or nobody gave it.
    case notSignedByLog(origin: String)
    /// The text is not that of a checkpoint.
    case notCheckpoint(CheckpointFlaw)
    /// The library refused to sign.
    case cannotSign
}

/// What a checkpoint's text lacks (C2SP tlog-checkpoint).
public enum CheckpointFlaw: Hashable, Sendable {
    case lines, origin, size, root, extensions
}

extension NoteError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge:
            "The note is too long: at most \(SignedNote.maximumSize) bytes and "
                + "\(SignedNote.maximumSignatures) signatures are read."
        case .notText: "The note is not plain UTF-8 text: it holds other bytes, or control characters."
        case .unsigned: "The note has no signatures: they stand behind an empty line."
        case .openEnd: "The note's text and its last signature must each end with a newline."
        case .malformedSignature(let number):
            "Signature \(number) of the note is not an em dash, a name and Base64, with a space between each."
        case .unfitName: "A key's name must not be empty, and holds no white space, no control character and no plus."
        case .malformedKey:
            "The key is not a name, 8 hexadecimal digits in lower case and Base64, with a plus between each."
        case .otherKeyID(let name): "The key ID of \(name) does not belong to its key: a character was changed."
        case .unsupportedKey(let type):
            "A key of type \(type) cannot be used: Ed25519 (1) and ECDSA with P-256 (2) can."
        case .wrongSignature(let name): "The signature by \(name) is wrong: the note is not what was signed."
        case .unknownSigners(let names):
            "None of the known keys signed the note; its signatures are by \(names.joined(separator: ", "))."
        case .notSignedByLog(let origin):
            "The checkpoint of \(origin) has no signature by a known key of that name."
        case .cannotSign: "The log key could not sign."
        case .notCheckpoint(let flaw): "The note is no checkpoint: \(flaw.description)."
        }
    }
}

extension CheckpointFlaw: CustomStringConvertible {
    public var description: String {
        switch self {
        case .lines: "it has fewer than three lines"
        case .origin: "its first line, the origin, is empty"
        case .size: "its second line is not a size, in decimal digits without leading zeros"
        case .root: "its third line is not the Base64 of 32 bytes"
        case .extensions: "one of its further lines is empty or more than a line"
        }
    }
}
