internal import PKCS11
internal import SigningKit

/// Finds exactly one token.
enum TokenSearch {
    /// More than these are not listed.
    private static let listLimit = 8

    /// - Parameter place: the URI without secrets, for people.
    /// - Throws: `notFound` or `ambiguous` with the tokens that there are.
    static func find(
        _ uri: PKCS11URI, _ place: String, in module: Module
    ) throws(KeyError) -> (SlotID, TokenInfo) {
        let tokens: [(slot: SlotID, info: TokenInfo)]
        do throws(PKCS11Error) {
            tokens = try present(module)
        } catch {
            throw error.whileOpening(place)
        }
        let found = tokens.filter { token in
            uri.matches(token.info) && (uri.slotID == nil || uri.slotID == token.slot)
        }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw .ambiguous(
                "\(found.count) tokens answer to \(place): \(list(found.map(\.info))). Add serial to the key's URI.")
        }
        let others = tokens.isEmpty ? "The module has none." : "There is \(list(tokens.map(\.info)))."
        throw .notFound("No token answers to \(place). \(others)")
    }

    private static func present(_ module: Module) throws(PKCS11Error) -> [(slot: SlotID, info: TokenInfo)] {
        var tokens: [(slot: SlotID, info: TokenInfo)] = []
        for slot in try module.slots() {
            // One token that is not well must not hide the others.
            guard let info = try? module.tokenInfo(of: slot), info.flags.contains(.tokenInitialized) else { continue }
            tokens.append((slot, info))
        }
        return tokens
    }

    private static func list(_ tokens: [TokenInfo]) -> String {
        let shown = tokens.prefix(listLimit).map { token in
            "(token=\(token.label), serial=\(token.serial), manufacturer=\(token.manufacturer), model=\(token.model))"
        }.joined(separator: ", ")
        return tokens.count > listLimit ? "\(shown) and \(tokens.count - listLimit) more" : shown
    }
}
