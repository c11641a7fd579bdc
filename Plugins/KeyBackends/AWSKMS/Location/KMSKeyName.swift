import Encodings
import SigningKit

/// The name of a KMS key, as the parameter `KeyId` of the KMS API takes it: a key ID, an alias or an ARN.
struct KMSKeyName: Hashable, Sendable {
    let text: String

    /// `alias/NAME`; nil for a key ID.
    let alias: String?
    /// Nil for an alias.
    let keyID: String?
    /// Of an ARN.
    let account: String?

    /// - Parameter resource: a key ID, `key/` and a key ID, or `alias/` and a name.
    init(resource: Substring) throws(KeyError) { try self.init(resource, arn: nil, account: nil) }

    /// - Parameters:
    ///   - resource: the last part of an ARN, with `key/` or `alias/`.
    ///   - arn: the whole ARN.
    init(_ resource: Substring, arn: String?, account: String?) throws(KeyError) {
        self.account = account
        if resource.hasPrefix("alias/") {
            guard Self.isAliasName(resource.dropFirst("alias/".count)) else {
                throw .invalidURI(
                    "its alias must be alias/ and 1 to 250 letters, digits, dashes, underscores and slashes")
            }
            (alias, keyID) = (String(resource), nil)
            text = arn ?? String(resource)
            return
        }
        let id = resource.hasPrefix("key/") ? resource.dropFirst("key/".count) : resource
        guard Self.isKeyID(id), arn == nil || resource.hasPrefix("key/") else {
            throw .invalidURI(
                "its key must be a key ID such as 1234abcd-12ab-34cd-56ef-1234567890ab, or an alias such as alias/appstore"
            )
        }
        (alias, keyID) = (nil, String(id))
        text = arn ?? String(id)
    }

    /// Letters, digits and dashes: a UUID, or `mrk-` and hexadecimal digits for a multi-Region key.
    private static func isKeyID(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
            && text.contains("-")
    }

    /// KMS API, CreateAlias: at most 256 characters with `alias/`.
    private static func isAliasName(_ text: Substring) -> Bool {
        let others = "/_-".utf8
        return (1...250).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || others.contains($0) }
    }
}

/// The ARN of a KMS key or alias: `arn:PARTITION:kms:REGION:ACCOUNT:key/ID`.
struct KMSARN: Hashable, Sendable {
    let text: String
    let region: AWSRegion
    /// 12 digits.
    let account: String
    let name: KMSKeyName

    init(_ text: String) throws(KeyError) {
        let parts = text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[1].hasPrefix("aws"), parts[2] == "kms",
            let region = AWSRegion(parts[3]), parts[4].utf8.count == 12,
            parts[4].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            throw .invalidURI("its ARN must be like arn:aws:kms:eu-west-1:111122223333:key/ID, or end in alias/NAME")
        }
        let account = String(parts[4])
        (self.text, self.region, self.account) = (text, region, account)
        name = try KMSKeyName(parts[5], arn: text, account: account)
    }
}
