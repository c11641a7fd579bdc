/// The members of an object. Every error names the member.
public struct JSONObject: Sendable {
    let document: JSONDocument
    let index: Int

    /// The value of a member, of any kind; nil if the member is absent.
    public subscript(name: String) -> JSONValue? {
        firstMember { isName($0, name) }.map { JSONValue(document: document, index: $0 + 1) }
    }

    /// The node of the first name that matches.
    private func firstMember(where matches: (Int) -> Bool) -> Int? {
        var member = index + 1
        let end = Int(document.nodes[index].next)
        while member < end {
            if matches(member) { return member }
            member = Int(document.nodes[member + 1].next)
        }
        return nil
    }

    public var names: [String] { members.map(\.name) }

    /// Names and values, in the order of the text.
    public var members: [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        var member = index + 1
        while member < Int(document.nodes[index].next) {
            let value = JSONValue(document: document, index: member + 1)
            members.append((document.string(of: document.nodes[member]), value))
            member = Int(value.node.next)
        }
        return members
    }

    public func required<Value>(
        _ name: String, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) throws(JSONReadError) -> Value {
        guard let value = self[name] else { throw JSONReadError(.missing, at: name) }
        do { return try read(value) } catch { throw error.inside(name) }
    }

    /// Reads a member that may be absent. Null does not count as absent: it is a value of the wrong kind.
    public func optional<Value>(
        _ name: String, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) throws(JSONReadError) -> Value? {
        guard let value = self[name] else { return nil }
        do { return try read(value) } catch { throw error.inside(name) }
    }

    func refuseUnknown(besides known: [String]) throws(JSONReadError) {
        let unknown = firstMember { member in !known.contains { isName(member, $0) } }
        guard let unknown else { return }
        throw JSONReadError(.unknown(known: known), at: document.string(of: document.nodes[unknown]).excerpt)
    }

    private func isName(_ member: Int, _ name: String) -> Bool {
        let node = document.nodes[member]
        guard !node.isEscaped else { return document.characters(of: node).elementsEqual(name.utf8) }
        guard Int(node.end - node.start) - 2 == name.utf8.count else { return false }
        var name = name
        return name.withUTF8 { name in
            let start = Int(node.start) + 1
            return name.indices.allSatisfy { name[$0] == document.bytes[start + $0] }
        }
    }
}
