internal import PKCS11
internal import SigningKit

/// Finds exactly one private key.
enum KeySearch {
    /// The maximum number of keys in an error message.
    private static let listLimit = 20

    /// - Throws: `notFound` or `ambiguous`, with a list of keys.
    static func find(_ selector: KeySelector, on token: TokenInfo, in session: Session) throws(KeyError) -> FoundKey {
        let wanted = try TokenAddress.keyAttributes(of: selector)
        let found = try opening(token.name) { () throws(PKCS11Error) in try keys(wanted, session) }
        if found.count == 1 { return found[0] }
        let asked = selector.uri.path
        guard found.isEmpty else {
            throw .ambiguous(
                "\(found.count) private keys on the token \(token.name) match \(asked): \(list(found)). Name one "
                    + "of them by object and id.")
        }
        let all = try opening(token.name) { () throws(PKCS11Error) in try keys([], session) }
        throw .notFound(
            "No private key on the token \(token.name) matches \(asked). "
                + (all.isEmpty ? "It has none." : "It has \(list(all))."))
    }

    private static func keys(_ attributes: [Attribute], _ session: Session) throws(PKCS11Error) -> [FoundKey] {
        var keys: [FoundKey] = []
        for object in try session.objects(with: [Attribute(.privateKey)] + attributes) {
            keys.append(try FoundKey(object, in: session))
        }
        return keys
    }

    private static func list(_ keys: [FoundKey]) -> String {
        let shown = keys.prefix(listLimit).map { "(\($0.attributes))" }.joined(separator: ", ")
        return keys.count > listLimit ? "\(shown) and \(keys.count - listLimit) more" : shown
    }
}
