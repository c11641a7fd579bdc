import Encodings
import SigningKit

/// The import token of a wrapping key, as the key's description holds it between `keys wrapping-key` and
/// `keys import --wrapped`.
///
/// KMS demands the token that belongs to the wrapping key, for 24 hours. The token is no secret: KMS accepts it only from
/// a caller that may import (kms:ImportKeyMaterial), and only with material under the wrapping key.
struct ImportTokenNote: Hashable, Sendable {
    let wrappingKey: PublicKeyFingerprint
    /// In Base64.
    let token: String
    let validTo: Timestamp

    private static let title = "PrivySeal import token"
    /// The limit of KMS for a description, in characters.
    private static let longest = 8192

    init(wrappingKey: PublicKeyFingerprint, token: String, validTo: Timestamp) {
        (self.wrappingKey, self.token, self.validTo) = (wrappingKey, token, validTo)
    }

    /// Nil for a description of another form.
    init?(description text: String) {
        let parts = text.split(separator: "; ", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == Self.title, let wrappingKey = PublicKeyFingerprint(String(parts[1])),
            let validTo = Timestamp(rfc3339: Array(parts[2].utf8)), Base64.standard.decode(parts[3].utf8) != nil
        else { return nil }
        self.init(wrappingKey: wrappingKey, token: String(parts[3]), validTo: validTo)
    }

    /// Nil if it does not fit into a description.
    var description: String? {
        let text = "\(Self.title); \(wrappingKey); \(validTo.text); \(token)"
        return text.utf8.count <= Self.longest ? text : nil
    }
}
