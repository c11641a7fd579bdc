import SigningKit
import StrictJSON

/// The product, offer and user identifiers in a request, wherever in it they stand and whether or not it is valid.
///
/// They are found by the members' names and not by the operations' shapes: with the envelope only, an operation may come
/// that this plugin does not know, and its products must not go by unseen. So a name is taken in either case and in the
/// plural too; what is taken for a product too often is refused where it could have been signed, and not the other way round.
struct NamedIdentifiers {
    private var products = Identifiers()
    private var offers = Identifiers()
    private var users = Identifiers()

    /// - Parameter request: of any kind; its depth is bounded by the parser.
    init(in request: JSONValue) {
        visit(request)
    }

    var subject: OfferSubject { OfferSubject(products: products.list, offers: offers.list, user: users.list.first) }

    private mutating func visit(_ value: JSONValue) {
        switch value.kind {
        case .object:
            for (name, member) in (try? value.anyObject().members) ?? [] {
                switch Self.kind(of: name) {
                case .product: products.add(allIn: member)
                case .offer: offers.add(allIn: member)
                case .user: users.add(allIn: member)
                case nil: break
                }
                visit(member)
            }
        case .array: for element in (try? value.elements()) ?? [] { visit(element) }
        case .string, .number, .boolean, .null: break
        }
    }

    private enum Kind {
        case product, offer, user
    }

    /// Apple's are `SKU` and `currentSKU`; `targetProductId` is one of its requests from server to server, and
    /// `offerIdentifier` one of its other features'.
    private static func kind(of member: String) -> Kind? {
        var name = member.lowercased()
        if name.hasSuffix("s") { name.removeLast() }
        if ["sku", "productid", "productidentifier"].contains(where: name.hasSuffix) { return .product }
        if ["offerid", "offeridentifier"].contains(where: name.hasSuffix) { return .offer }
        if ["appaccounttoken", "transactionid"].contains(where: name.hasSuffix) { return .user }
        return nil
    }
}

/// Each once, in the order in which they came.
private struct Identifiers {
    private(set) var list: [String] = []
    private var known: Set<[UInt8]> = []

    /// The value itself, or each element of a list. A number stands for its digits: a reader less strict than ours could
    /// take it for them.
    mutating func add(allIn value: JSONValue) {
        switch value.kind {
        case .string: if let text = try? value.string() { add(text) }
        case .number: add(String(decoding: value.rawBytes, as: UTF8.self))
        case .array: for element in (try? value.elements()) ?? [] { add(allIn: element) }
        case .object, .boolean, .null: break
        }
    }

    /// By its bytes: for `==`, two ways to write an accent are one text.
    private mutating func add(_ text: String) {
        if known.insert(Array(text.utf8)).inserted { list.append(text) }
    }
}
