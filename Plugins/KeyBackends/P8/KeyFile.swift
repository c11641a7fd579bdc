import CLibCrypto
import Glibc
import SigningKit

/// A key file, read once, directly into the secure heap.
struct KeyFile {
    let path: String
    /// Whether the group and others may have access.
    let allowsSharing: Bool
    /// The source of the passphrase of an encrypted file, as in the URI's `passphrase-source`.
    let passphraseSource: String?
    let secrets: any SecretSource

    /// In bytes. A key in PEM has about two hundred, an encrypted one about five hundred.
    static let maximumSize = 16 << 10

    func key() throws(KeyError) -> LibCryptoKey { try key(from: read()) }

    func read() throws(KeyError) -> SecureBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw openError(errno) }
        defer { close(descriptor) }
        let size = try checkedSize(descriptor)
        guard let content = SecureBytes(capacity: size + 1) else {
            throw KeyFileError.noRoom.keyError(path)
        }
        try content.fill { room throws(KeyError) in
            guard let count = BoundedFile.fill(room, from: descriptor) else { throw openError(errno) }
            return count
        }
        guard content.count > 0 else { throw .unfit("The key file \(path) is empty.") }
        guard content.count <= size else { throw .unfit("The key file \(path) grew while it was read; try again.") }
        return content
    }

    private func checkedSize(_ descriptor: Int32) throws(KeyError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw openError(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unfit("\(path) is not a file.") }
        if status.st_mode & 0o077 != 0, !allowsSharing {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw .unfit(
                "The key file \(path) can be read or changed by group or others (mode \(mode)). Run: chmod 600 \(path)"
                    + " (or set allowSharedFiles if the volume of the file cannot set a mode).")
        }
        guard status.st_size <= Self.maximumSize else {
            throw .unfit("\(path) has \(status.st_size) bytes; a key file has at most \(Self.maximumSize).")
        }
        return Int(status.st_size)
    }

    private func openError(_ code: Int32) -> KeyError {
        switch code {
        case ENOENT, ENOTDIR: .notFound("There is no key file at \(path).")
        case EACCES, EPERM: .unfit("The key file \(path) cannot be read by this user (uid \(getuid())).")
        default: .unfit("The key file \(path) cannot be read: \(String(cString: strerror(code))).")
        }
    }
}

/// Finds the private key in a file's content, or throws an error that says what the file is instead.
extension KeyFile {
    func key(from content: SecureBytes) throws(KeyError) -> LibCryptoKey {
        do throws(KeyFileError) {
            let der = try Self.der(from: content, mayBeArmoured: true)
            let encoding = try KeyEncoding(der.bytes)
            guard case .encrypted = encoding else { return try Self.key(encoding) }
            try KeyDerivation.check(der.bytes)
            let opened = try EncryptedKey.decrypt(der.bytes, with: try passphrase())
            return try Self.key(KeyEncoding(opened.bytes))
        } catch {
            throw error.keyError(path)
        }
    }

    private func passphrase() throws(KeyFileError) -> Secret {
        guard let passphraseSource else { throw .noPassphrase }
        do throws(KeyError) { return try secrets.secret(passphraseSource) } catch { throw .passphrase(error) }
    }

    private static func der(from content: SecureBytes, mayBeArmoured: Bool) throws(KeyFileError) -> SecureBytes {
        let text = content.bytes
        if text.first == DERElement.sequence, DERElement.members(of: text) != nil { return content }
        let blocks = try PEMBlock.find(in: text)
        if !blocks.isEmpty { return try privateKeyBlock(of: blocks).decode(text) }
        if text.first == DERElement.sequence { throw .damaged }
        // Some deployment tools encode a whole file in Base64 again.
        guard mayBeArmoured else { throw .unfit("is not a private key: it is neither PEM nor DER") }
        return try der(from: try PEMBlock.decode(text), mayBeArmoured: false)
    }

    /// The one block with a private key; `openssl ecparam` puts the curve parameters before it.
    private static func privateKeyBlock(of blocks: [PEMBlock]) throws(KeyFileError) -> PEMBlock {
        let keys = blocks.filter { $0.label != "EC PARAMETERS" }
        guard let block = keys.first else { throw .unfit("holds curve parameters only, no key") }
        guard keys.count == 1 else { throw .severalBlocks(keys.map(\.label)) }
        switch block.label {
        case "PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY": return block
        case "RSA PRIVATE KEY": throw .rsa
        case "PUBLIC KEY", "RSA PUBLIC KEY": throw .publicKey
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE": throw .certificate
        default: throw .unfit("holds a PEM block named \"\(block.label)\"; expected PRIVATE KEY")
        }
    }

    private static func key(_ encoding: KeyEncoding) throws(KeyFileError) -> LibCryptoKey {
        guard case .p256(let scalar, let points) = encoding else { throw .unfit("is encrypted twice") }
        guard let key = LibCryptoKey(scalar: scalar) else { throw .unfit("holds no valid P-256 private key") }
        guard points.allSatisfy(key.hasPoint) else {
            throw .unfit("holds a public key that does not belong to its private key")
        }
        return key
    }
}

/// Why a key file cannot be used.
enum KeyFileError: Error {
    /// Continues the sentence "The key file PATH".
    case unfit(String)
    /// The labels of the PEM blocks.
    case severalBlocks([String])
    /// The secure heap is full.
    case noRoom
    /// The file is encrypted, and the URI names no source of its passphrase.
    case noPassphrase
    case passphrase(KeyError)

    static let damaged = KeyFileError.unfit("is cut off or damaged")
    static let rsa = KeyFileError.unfit("holds an RSA key; App Store keys are for ECDSA on P-256")
    static let publicKey = KeyFileError.unfit(
        "holds a public key; the private key from App Store Connect (.p8) is needed")
    static let certificate = KeyFileError.unfit(
        "holds a certificate; the private key from App Store Connect (.p8) is needed")

    func keyError(_ path: String) -> KeyError {
        switch self {
        case .unfit(let predicate): .unfit("The key file \(path) \(predicate).")
        case .severalBlocks(let labels):
            .ambiguous(
                "The key file \(path) holds \(labels.count) PEM blocks (\(labels.joined(separator: ", ")));"
                    + " it must hold exactly one key.")
        case .noPassphrase:
            .secretUnavailable(
                "The key file \(path) is encrypted; give the source of its passphrase with "
                    + "?passphrase-source=file:/path.")
        case .passphrase(let error): error
        case .noRoom: .unavailable("There is no room on libcrypto's secure heap for the key file \(path).")
        }
    }
}

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
