import SigningKit
import StrictJSON

/// The product, offer and user identifiers anywhere in a request, valid or not.
///
/// The search uses member names and not the shapes of operations: an `envelope` request may have an operation that this
/// plugin does not know, and its products must be found. So names match in any case and in the plural. A false match
/// may refuse a valid request, but no product is missed.
struct NamedIdentifiers {
    private var products = Identifiers()
    private var offers = Identifiers()
    private var users = Identifiers()

    /// - Parameter request: a value of any kind; the parser limits its depth.
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

    /// Apple's names are `SKU` and `currentSKU`. `targetProductId` belongs to a server-to-server request, and
    /// `offerIdentifier` to another feature.
    private static func kind(of member: String) -> Kind? {
        var name = member.lowercased()
        if name.hasSuffix("s") { name.removeLast() }
        if ["sku", "productid", "productidentifier"].contains(where: name.hasSuffix) { return .product }
        if ["offerid", "offeridentifier"].contains(where: name.hasSuffix) { return .offer }
        if ["appaccounttoken", "transactionid"].contains(where: name.hasSuffix) { return .user }
        return nil
    }
}

/// Unique identifiers, in the order of their first occurrence.
private struct Identifiers {
    private(set) var list: [String] = []
    private var known: Set<[UInt8]> = []

    /// Adds the value, or each element of a list. A number counts as digits: a less strict reader may accept it.
    mutating func add(allIn value: JSONValue) {
        switch value.kind {
        case .string: if let text = try? value.string() { add(text) }
        case .number: add(String(decoding: value.rawBytes, as: UTF8.self))
        case .array: for element in (try? value.elements()) ?? [] { add(allIn: element) }
        case .object, .boolean, .null: break
        }
    }

    /// Compares bytes: for `==`, two encodings of an accent are equal.
    private mutating func add(_ text: String) {
        if known.insert(Array(text.utf8)).inserted { list.append(text) }
    }
}
