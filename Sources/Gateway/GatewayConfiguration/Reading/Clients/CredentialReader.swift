import Crypto
import Encodings
import SigningKit

/// Reads the clients' credentials. Each one identifies one client, so it may occur only once in the file.
struct CredentialReader {
    private let findings: Findings
    private var digests = UniqueValues<[UInt8]>()
    private var claims = UniqueValues<GatewayConfiguration.CertificateIdentity.Claim>()
    private var uids = UniqueValues<UInt32>()

    init(_ findings: Findings) {
        self.findings = findings
    }

    mutating func token(_ node: SettingNode) -> GatewayConfiguration.ClientToken? {
        typealias Token = GatewayConfiguration.ClientToken
        guard var mapping = MappingReader(node, Token.settings, findings) else { return nil }
        var token = Token(origin: node.origin)
        mapping.read(Token.settings, into: &token)
        guard let origin = mapping.given.origin(of: "sha256"), !mapping.given.faulty.contains("sha256") else {
            return nil
        }
        return digests.note(token.digest, "the token digest \(token)…", at: origin, findings) ? token : nil
    }

    mutating func certificate(_ node: SettingNode) -> GatewayConfiguration.CertificateIdentity? {
        let kinds = GatewayConfiguration.CertificateIdentity.reference.map(\.path)
        guard let mapping = MappingReader(node, keys: kinds, findings) else { return nil }
        let given = kinds.filter(mapping.given.isPresentOrMisspelt)
        guard given.count == 1, let kind = given.first else {
            let beginning =
                given.isEmpty ? "does not identify a certificate" : "identifies a certificate in several ways"
            let cure = "give exactly one of fingerprint, dnsName and uri in each element of the list"
            findings.fault(.notAllowed("\(beginning); \(cure)"), at: node.origin)
            return nil
        }
        guard let value = mapping.optional(kind), let claim = claim(kind, value) else { return nil }
        let what = "the certificate \(Excerpt.quoted(claim.description))"
        guard claims.note(claim, what, at: value.origin, findings) else { return nil }
        return GatewayConfiguration.CertificateIdentity(claim: claim, origin: node.origin)
    }

    mutating func userID(_ node: SettingNode) -> GatewayConfiguration.UserID? {
        guard let number = node.wholeNumber(in: GatewayConfiguration.UserID.numbers, findings) else { return nil }
        let uid = UInt32(truncatingIfNeeded: number)
        guard uids.note(uid, "the uid \(uid)", at: node.origin, findings) else { return nil }
        return GatewayConfiguration.UserID(number: uid, origin: node.origin)
    }

    private func claim(_ kind: String, _ node: SettingNode) -> GatewayConfiguration.CertificateIdentity.Claim? {
        node.parsed(findings) { text throws(InvalidValue) in
            switch kind {
            case "fingerprint": .fingerprint(try Self.fingerprint(text))
            case "dnsName": .dnsName(try Self.dnsName(text))
            default: .uri(try Self.uri(text))
            }
        }
    }

    /// The 32 bytes of 64 hexadecimal digits of either case; nil for any other text.
    static func sha256(_ digits: some StringProtocol) -> [UInt8]? {
        guard digits.utf8.count == 64 else { return nil }
        return Hexadecimal.decode(Array(digits.utf8))
    }

    private static func fingerprint(_ text: String) throws(InvalidValue) -> [UInt8] {
        let prefix = "sha256:"
        let digits = text.dropFirst(prefix.count).filter { $0 != ":" }
        guard text.lowercased().hasPrefix(prefix), let digest = sha256(digits) else {
            throw InvalidValue(
                "is not a fingerprint; it must be sha256: and the 64 hexadecimal digits of the SHA-256 of the certificate's "
                    + "public key in DER")
        }
        return digest
    }

    private static func dnsName(_ text: String) throws(InvalidValue) -> String {
        guard DNSName.isName(text) else {
            throw InvalidValue(
                "is not a DNS name; give the whole name that the certificate holds, such as shop.example.com, without a * and "
                    + "in its ASCII form")
        }
        return text.lowercased()
    }

    private static func uri(_ text: String) throws(InvalidValue) -> String {
        // A URI in a certificate may have a fragment; a key's URI has none.
        let isURI =
            (try? KeyURI(String(text.prefix { $0 != "#" }))) != nil
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isURI, text.utf8.count <= 2048 else {
            throw InvalidValue(
                "is not a URI; give the one that the certificate holds, such as spiffe://example.com/shop")
        }
        return text
    }
}

extension SettingKind<[UInt8]> {
    /// The SHA-256 of a token. No message repeats the text, which may be a misplaced secret.
    static var tokenDigest: Self {
        .parsed("64 hexadecimal digits") { text throws(InvalidValue) in
            guard let digest = CredentialReader.sha256(text) else {
                throw InvalidValue(
                    "is not a SHA-256; it must be 64 hexadecimal digits, which privyseal clients mint shows with the token"
                )
            }
            guard digest != Array(SHA256.hash(data: [UInt8]())) else {
                throw InvalidValue("is the SHA-256 of an empty token; use the one that privyseal clients mint shows")
            }
            return digest
        } text: {
            Hexadecimal.encode($0)
        }
    }
}
