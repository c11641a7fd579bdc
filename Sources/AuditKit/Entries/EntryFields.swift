public import SigningKit

/// The members of an entry, found in its canonical bytes without reading more of them than has to be.
///
/// For bytes that are an entry; of others it may see less than is there, or nothing.
public struct EntryFields: Sendable {
    public let body: [UInt8]
    private let members: [EntryScanner.Member]

    /// Nil for what is not an object in canonical form.
    public init?(_ body: [UInt8]) {
        guard let members = EntryScanner.members(of: body) else { return nil }
        self.body = body
        self.members = members
    }

    /// The raw value: JSON.
    public subscript(_ name: StaticString) -> ArraySlice<UInt8>? {
        members.first { has(name, at: $0.name) }.map { body[$0.value] }
    }

    private func has(_ name: StaticString, at place: Range<Int>) -> Bool {
        guard place.count == name.utf8CodeUnitCount else { return false }
        return body.withUnsafeBufferPointer { body in
            name.withUTF8Buffer { UnsafeBufferPointer(rebasing: body[place]).elementsEqual($0) }
        }
    }

    /// Nil unless the member is a string.
    public func text(_ name: StaticString) -> String? { self[name].flatMap(EntryScanner.text) }

    /// The elements of a list of strings; none where there is no such list.
    public func texts(_ name: StaticString) -> [String] {
        guard let value = self[name] else { return [] }
        return EntryScanner.elements(of: value).compactMap(EntryScanner.text)
    }

    public func integer(_ name: StaticString) -> Int? {
        self[name].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// The members of an object of numbers, such as `counts`.
    public func numbers(_ name: StaticString) -> [(name: String, number: Int)] {
        guard let value = self[name] else { return [] }
        let bytes = Array(value)
        return (EntryScanner.members(of: bytes) ?? []).compactMap { member in
            guard let number = Int(String(decoding: bytes[member.value], as: UTF8.self)) else { return nil }
            return (String(decoding: bytes[member.name], as: UTF8.self), number)
        }
    }

    // MARK: What every entry has

    public var kind: String? { text("kind") }

    public var time: Timestamp? { self["time"].flatMap { Timestamp(rfc3339: $0.dropFirst().dropLast()) } }

    // MARK: What is searched for

    /// What the entry says about a term; most say one thing or nothing.
    public func values(of term: AuditTerm) -> [String] {
        switch term {
        case .client: [text("client")].compactMap(\.self)
        case .app: [text("app")].compactMap(\.self)
        case .feature: [text("feature")].compactMap(\.self)
        case .product: texts("products")
        case .offer: texts("offers")
        case .key: [text("key")].compactMap(\.self)
        case .outcome: outcomes
        case .requestID: [text("requestId")].compactMap(\.self)
        case .kind: [kind].compactMap(\.self)
        case .user: [text("user")].compactMap(\.self)
        }
    }

    /// The members that are different in nearly every entry, and that no term but request ID and user reads.
    private static let ownMembers: [StaticString] = ["digest", "nonce", "requestId", "time", "took", "user"]

    /// Appends the entry's bytes without those members: where two entries have the same here, they have the same values of every
    /// term but request ID and user, and the same counts.
    public func appendCommon(to bytes: inout [UInt8]) {
        for member in members where !Self.ownMembers.contains(where: { has($0, at: member.name) }) {
            bytes += body[member.name.lowerBound - 1..<member.value.upperBound]
            // Or the end of one and the beginning of the next could be read as one.
            bytes.append(UInt8(ascii: ","))
        }
    }

    private var outcomes: [String] {
        switch kind {
        case "signature": [AuditOutcome.signed]
        case "refusal": [text("reason")].compactMap(\.self)
        case "refusals": numbers("counts").map(\.name)
        default: [text("outcome") ?? text("state") ?? text("event") ?? text("change")].compactMap(\.self)
        }
    }

    /// Whether the entry is one that was asked for.
    public func match(_ query: AuditQuery) -> Bool {
        if query.since != nil || query.until != nil {
            guard let time else { return false }
            if let since = query.since, time < since { return false }
            if let until = query.until, time >= until { return false }
        }
        // To the byte: for `==`, two ways to write an accent are one text.
        return query.terms.allSatisfy { term, wanted in
            values(of: term).contains { $0.utf8.elementsEqual(wanted.utf8) }
        }
    }
}
