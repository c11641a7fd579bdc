internal import PKCS11
internal import SigningKit

/// Finds exactly one token.
enum TokenSearch {
    /// The maximum number of tokens in an error message.
    private static let listLimit = 8

    /// - Parameter place: the URI without secrets, for messages.
    /// - Throws: `notFound` or `ambiguous`, with a list of tokens.
    static func find(
        _ uri: PKCS11URI, _ place: String, in module: Module
    ) throws(KeyError) -> (SlotID, TokenInfo) {
        let slots = try opening(place) { () throws(PKCS11Error) in try module.slots() }
        let tokens = present(slots, in: module)
        let found = tokens.filter { token in
            uri.matches(token.info) && (uri.slotID == nil || uri.slotID == token.slot)
        }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw .ambiguous(
                "\(found.count) tokens match \(place): \(list(found.map(\.info))). Add serial to the key's URI.")
        }
        throw .notFound("No token matches \(place). \(alternatives(to: tokens, slots.count))")
    }

    private static func alternatives(to tokens: [(slot: SlotID, info: TokenInfo)], _ slots: Int) -> String {
        guard tokens.isEmpty else { return "There is \(list(tokens.map(\.info)))." }
        guard slots == 0 else {
            return
                "None of the module's \(slots) slots holds an initialized token. Initialize the token first, or check "
                + "whether the module reads the same configuration as the tool that initialized it."
        }
        return "The module has no slot with a token. Plug in the device, or start the service that the module uses; "
            + "for p11-kit-client.so, P11_KIT_SERVER_ADDRESS must name a running p11-kit server."
    }

    private static func present(_ slots: [SlotID], in module: Module) -> [(slot: SlotID, info: TokenInfo)] {
        var tokens: [(slot: SlotID, info: TokenInfo)] = []
        for slot in slots {
            // An error of one token must not hide the others.
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
