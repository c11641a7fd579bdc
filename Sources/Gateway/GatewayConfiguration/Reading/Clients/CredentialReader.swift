import Crypto
import Encodings
import SigningKit

/// Reads the clients' credentials. Each one identifies one client, so it may occur only once in the file.
struct CredentialReader {
    /// Without the greatest number, which stands for "no user" in system calls (chown(2)).
    static let userIDs = 0...Int(UInt32.max) - 1

    private let findings: Findings
    private var digests: [[UInt8]: ConfigurationOrigin] = [:]
    private var claims: [GatewayConfiguration.CertificateIdentity.Claim: ConfigurationOrigin] = [:]
    private var uids: [UInt32: ConfigurationOrigin] = [:]

    init(_ findings: Findings) {
        self.findings = findings
    }

    mutating func token(_ node: SettingNode) -> GatewayConfiguration.ClientToken? {
        guard let mapping = MappingReader(node, keys: ["sha256", "expires"], findings) else { return nil }
        let expires = mapping.optional("expires").map { node in
            node.parsed(findings) { text throws(InvalidValue) in try Timestamp(configured: text) }
        }
        let what = "the 64 hexadecimal digits of the token's SHA-256, which privyseal clients mint shows"
        guard let digestNode = mapping.required("sha256", what) else { return nil }
        let digest = digestNode.parsed(findings) { text throws(InvalidValue) in try Self.digest(text) }
        guard let digest else { return nil }
        let token = GatewayConfiguration.ClientToken(digest: digest, expires: expires ?? nil, origin: node.origin)
        let isNew = Self.note(digest, in: &digests, "the token digest \(token)…", digestNode.origin, findings)
        return isNew ? token : nil
    }

    mutating func certificate(_ node: SettingNode) -> GatewayConfiguration.CertificateIdentity? {
        let kinds = ["fingerprint", "dnsName", "uri"]
        guard let mapping = MappingReader(node, keys: kinds, findings) else { return nil }
        let given = kinds.filter(mapping.isPresentOrMisspelt)
        guard given.count == 1, let kind = given.first else {
            let beginning =
                given.isEmpty ? "does not identify a certificate" : "identifies a certificate in several ways"
            let cure = "give exactly one of fingerprint, dnsName and uri in each element of the list"
            findings.fault(.notAllowed("\(beginning); \(cure)"), at: node.origin)
            return nil
        }
        guard let value = mapping.optional(kind), let claim = claim(kind, value) else { return nil }
        let what = "the certificate \(Excerpt.quoted(claim.description))"
        guard Self.note(claim, in: &claims, what, value.origin, findings) else { return nil }
        return GatewayConfiguration.CertificateIdentity(claim: claim, origin: node.origin)
    }

    mutating func userID(_ node: SettingNode) -> GatewayConfiguration.UserID? {
        guard let number = node.wholeNumber(in: Self.userIDs, findings) else { return nil }
        let uid = UInt32(truncatingIfNeeded: number)
        guard Self.note(uid, in: &uids, "the uid \(uid)", node.origin, findings) else { return nil }
        return GatewayConfiguration.UserID(number: uid, origin: node.origin)
    }

    /// Static, because `self` would be a second reference to the dictionary, and each call would copy it.
    private static func note<Proof: Hashable>(
        _ proof: Proof, in taken: inout [Proof: ConfigurationOrigin], _ what: String, _ origin: ConfigurationOrigin,
        _ findings: Findings
    ) -> Bool {
        if let first = taken[proof] {
            findings.fault(.alreadyTaken(what: what, first: first), at: origin)
            return false
        }
        taken[proof] = origin
        return true
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

    /// No message repeats the text, which may be a misplaced secret.
    private static func digest(_ text: String) throws(InvalidValue) -> [UInt8] {
        guard let digest = sha256(text) else {
            throw InvalidValue(
                "is not a SHA-256; it must be 64 hexadecimal digits, which privyseal clients mint shows with the token")
        }
        guard digest != Array(SHA256.hash(data: [UInt8]())) else {
            throw InvalidValue("is the SHA-256 of an empty token; use the one that privyseal clients mint shows")
        }
        return digest
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
