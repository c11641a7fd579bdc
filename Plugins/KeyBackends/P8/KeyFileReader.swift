import SigningKit

/// Reads a private key from a key file's content, or throws an error that says what the file is instead.
struct KeyFileReader {
    let path: String
    let passphrase: PassphraseReader

    func key(from content: SecureBytes) throws(KeyError) -> LibCryptoKey {
        try key(fromDER: try der(from: content, mayBeArmoured: true))
    }

    // MARK: From the file to DER

    private func der(from content: SecureBytes, mayBeArmoured: Bool) throws(KeyError) -> SecureBytes {
        let text = content.bytes
        if text.first == DERReader.sequence, DERReader.elements(of: text) != nil { return content }
        do {
            let blocks = try PEMBlock.find(in: text)
            if !blocks.isEmpty { return try privateKeyBlock(of: blocks).decode(text) }
            // Some deployment tools encode a whole file in Base64 again.
            if text.first != DERReader.sequence, mayBeArmoured {
                return try der(from: try PEMBlock.decode(text), mayBeArmoured: false)
            }
        } catch let error as PEMError {
            throw unreadable(error)
        } catch let error as KeyError {
            throw error
        } catch {
            throw unreadable(.notBase64)
        }
        throw unfit(text.first == DERReader.sequence ? "is cut off or damaged" : notAKey)
    }

    /// The one block with a private key; `openssl ecparam` puts the curve parameters before it.
    private func privateKeyBlock(of blocks: [PEMBlock]) throws(KeyError) -> PEMBlock {
        let keys = blocks.filter { $0.label != "EC PARAMETERS" }
        guard let block = keys.first else { throw unfit("holds curve parameters only, no key") }
        guard keys.count == 1 else {
            throw .ambiguous(
                "The key file \(path) holds \(keys.count) PEM blocks (\(keys.map(\.label).joined(separator: ", ")));"
                    + " it must hold exactly one key.")
        }
        switch block.label {
        case "PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY": return block
        case "RSA PRIVATE KEY": throw unfit(rsa)
        case "PUBLIC KEY", "RSA PUBLIC KEY": throw unfit(publicKey)
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE": throw unfit(certificate)
        default: throw unfit("holds a PEM block named \"\(block.label)\"; expected PRIVATE KEY")
        }
    }

    // MARK: From DER to the key

    private func key(fromDER der: SecureBytes) throws(KeyError) -> LibCryptoKey {
        guard case .encrypted = KeyEncoding(der.bytes) else { return try key(fromPlainDER: der) }
        let opened: SecureBytes
        do throws(EncryptedKey.Failure) { try KeyDerivation.check(der.bytes) } catch { throw unreadable(error) }
        let passphrase = try passphrase.read(for: path)
        do { opened = try EncryptedKey.decrypt(der.bytes, with: passphrase) } catch { throw unreadable(error) }
        return try key(fromPlainDER: opened)
    }

    private func key(fromPlainDER der: SecureBytes) throws(KeyError) -> LibCryptoKey {
        switch KeyEncoding(der.bytes) {
        case .p256(let scalar, let points):
            guard let key = LibCryptoKey(scalar: scalar) else { throw unfit("holds no valid P-256 private key") }
            guard points.allSatisfy(key.hasPoint) else {
                throw unfit("holds a public key that does not belong to its private key")
            }
            return key
        case .encrypted: throw unfit("is encrypted twice")
        case .encryptedWithOldScheme(let name):
            throw unfit(
                "is encrypted with \(name); only PBES2 is read. Convert it with: openssl pkcs8 -topk8 -v2 aes-256-cbc")
        case .otherCurve(let name): throw unfit("holds a key on \(name); App Store keys are on P-256 (prime256v1)")
        case .twoCurves(let name): throw unfit("names two curves: P-256 (prime256v1) and, in the key itself, \(name)")
        case .rsa: throw unfit(rsa)
        case .otherAlgorithm(let name): throw unfit("holds a key for \(name); App Store keys are for ECDSA on P-256")
        case .publicKey: throw unfit(publicKey)
        case .certificate: throw unfit(certificate)
        case .unreadable: throw unfit("is cut off or damaged")
        }
    }

    // MARK: Error messages

    private let notAKey = "is not a private key: it is neither PEM nor DER"
    private let rsa = "holds an RSA key; App Store keys are for ECDSA on P-256"
    private let publicKey = "holds a public key; the private key from App Store Connect (.p8) is needed"
    private let certificate = "holds a certificate; the private key from App Store Connect (.p8) is needed"

    private func unfit(_ predicate: String) -> KeyError { .unfit("The key file \(path) \(predicate).") }

    private func unreadable(_ error: EncryptedKey.Failure) -> KeyError {
        switch error {
        case .wrongPassphrase: unfit("is encrypted, and the passphrase does not decrypt it")
        case .unsupported:
            unfit(
                "is encrypted with an algorithm that libcrypto does not offer. Convert it with:"
                    + " openssl pkcs8 -topk8 -v2 aes-256-cbc")
        case .damaged: unfit("is cut off or damaged")
        case .tooExpensive(let cost):
            unfit(
                "is encrypted at a cost of \(cost). Convert it with:"
                    + " openssl pkcs8 -topk8 -v2 aes-256-cbc -iter 600000")
        case .noRoom: .unavailable("There is no room on libcrypto's secure heap for the key file \(path).")
        }
    }

    private func unreadable(_ error: PEMError) -> KeyError {
        switch error {
        case .truncated: unfit("is cut off: its PEM block has no end")
        case .notBase64: unfit("is damaged or not a private key: its content is not Base64")
        case .noRoom: .unavailable("There is no room on libcrypto's secure heap for the key file \(path).")
        }
    }
}
