import Yams

/// Reads a source into nodes, with Yams, which uses libyaml. It accepts one document, and no anchors, tags, repeated
/// keys or keys that are not text.
///
/// Scalars stay text until a reader wants a number or a Boolean. So `keyId: 12E4567890` is not a number, and
/// `verification: off` is not false.
struct YAMLReader {
    /// No setting is deeper. The functions that visit the nodes are recursive.
    static let maximumDepth = 16

    private let findings: Findings
    private let file: ConfigurationOrigin
    private var repeatedKeys = RepeatedKeys()
    private var exclamationMarks: Set<Place> = []

    init(_ file: ConfigurationOrigin, _ findings: Findings) {
        self.file = file
        self.findings = findings
    }

    /// The document's root. Nil without a document, or with a fault in `findings` if the text is not YAML. Nodes with
    /// other faults are left out or `faulty`.
    mutating func read(_ source: YAMLSource) -> SettingNode? {
        var text = source.text
        exclamationMarks = Place.exclamationMarks(in: text)
        while true {
            do {
                return try document(text)
            } catch .duplicatedKeysInMapping(let keys, let context) {
                guard let marked = repeatedKeys.mark(text) else {
                    let key = Self.subject(keys.first.map { repeatedKeys.original(of: $0) })
                    findings.fault("gives \(key) twice; keep one of them", at: path(context.mark, ""))
                    return nil
                }
                text = marked
            } catch {
                fault(error, in: text)
                return nil
            }
        }
    }

    /// Names a repeated key without a known path.
    private static func subject(_ key: String?) -> String {
        let name = key.map(Excerpt.name) ?? "…"
        return name == "…" ? "a key" : "the key \(name)"
    }

    private func document(_ text: String) throws(YamlError) -> SettingNode? {
        do {
            let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            // The nodes have weak references to their anchors; the parser owns them.
            return try withExtendedLifetime(parser) {
                guard let root = try parser.nextRoot() else { return nil }
                if let second = try parser.nextRoot() {
                    findings.fault(
                        "begins a second document; give only one, so remove the line \"---\"",
                        at: path(second.mark, ""))
                    return nil
                }
                return node(root, at: path(root.mark, ""), depth: 0)
            }
        } catch let error as YamlError {
            throw error
        } catch {
            throw .memory  // Yams throws nothing else.
        }
    }

    private func node(_ node: Node, at origin: ConfigurationOrigin, depth: Int) -> SettingNode {
        SettingNode(content: content(of: node, at: origin, depth), origin: origin)
    }

    private func content(of node: Node, at origin: ConfigurationOrigin, _ depth: Int) -> SettingNode.Content {
        guard depth < Self.maximumDepth else { return refuse("nests deeper than any setting does", at: origin) }
        guard node.anchor == nil else {
            let cure = "anchors are not supported, so remove the word that begins with &"
            return refuse("has an anchor; \(cure)", at: origin)
        }
        guard !hasTag(node) else { return refuse(Self.tagFault, at: origin) }
        switch node {
        case .scalar(let scalar):
            return .scalar(repeatedKeys.original(of: scalar.string), isPlain: scalar.style == .plain)
        case .sequence(let sequence):
            let elements = sequence.enumerated().map { index, element in
                self.node(element, at: path(element.mark, origin.child(index).path), depth: depth + 1)
            }
            return .list(elements)
        case .mapping(let mapping):
            return .mapping(entries(of: mapping, at: origin, depth))
        case .alias:
            // Yams itself replaces an alias with the anchor's node.
            return refuse("is an alias; aliases are not supported, so write the value out", at: origin)
        }
    }

    private func entries(of mapping: Node.Mapping, at origin: ConfigurationOrigin, _ depth: Int) -> [SettingNode.Entry]
    {
        var lines: [String: Int] = [:]
        return mapping.compactMap { key, value in
            guard let written = key.scalar?.string, key.anchor == nil else {
                let path = path(key.mark, origin.path)
                findings.fault("has a key that is not a name; write each key as one word", at: path)
                return nil
            }
            let name = repeatedKeys.original(of: written)
            let keyOrigin = path(key.mark, origin.child(Excerpt.name(name)).path)
            guard !hasTag(key) else {
                findings.fault(Self.tagFault, at: keyOrigin)
                return nil
            }
            if let first = lines[name] {
                findings.fault("is given twice, first on line \(first); keep one of them", at: keyOrigin)
                return nil
            }
            lines[name] = keyOrigin.line ?? 0
            let node = node(value, at: path(value.mark ?? key.mark, keyOrigin.path), depth: depth + 1)
            return SettingNode.Entry(name: name, origin: keyOrigin, value: node)
        }
    }

    private func refuse(_ sentence: String, at origin: ConfigurationOrigin) -> SettingNode.Content {
        findings.fault(sentence, at: origin)
        return .faulty
    }

    private static let tagFault = "has a tag; tags are not supported, so remove the word that begins with !"

    /// Whether the text has a tag before the value, or Yams reports one. Yams gives quoted text the tag `str` (YAML
    /// 1.2.2 §10.1), so that tag does not count. libyaml's mark of a value with a tag is the position of the tag.
    private func hasTag(_ node: Node) -> Bool {
        let (tag, own): (Tag, Tag.Name) =
            switch node {
            case .scalar(let scalar): (scalar.tag, .str)
            case .sequence(let sequence): (sequence.tag, .seq)
            case .mapping(let mapping): (mapping.tag, .map)
            case .alias: (.implicit, .implicit)
            }
        if !["", Tag.Name.implicit.rawValue, own.rawValue].contains(tag.rawValue) { return true }
        guard let mark = node.mark else { return false }
        return exclamationMarks.contains(Place(line: mark.line, column: mark.column))
    }

    /// The position of a character, counted from 1.
    private struct Place: Hashable {
        let line: Int
        let column: Int

        static func exclamationMarks(in text: String) -> Set<Place> {
            var places: Set<Place> = []
            var (line, column) = (1, 1)
            for scalar in text.unicodeScalars {
                if scalar == "!" { places.insert(Place(line: line, column: column)) }
                (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
            }
            return places
        }
    }

    private func path(_ mark: Mark?, _ path: String) -> ConfigurationOrigin {
        ConfigurationOrigin(source: file.source, line: mark?.line, column: mark?.column, path: path)
    }

    /// Uses libyaml's messages, which contain nothing of the file. Yams' descriptions would show the line.
    private func fault(_ error: YamlError, in text: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let within = context.map { " (\($0.text), which begins on line \($0.mark.line))" } ?? ""
            // Operators write patterns such as *.example; YAML reads the star as an alias.
            let isStar = problem.contains("alias") || context?.text.contains("alias") == true
            let cure =
                isStar ? "put what begins with * in quotes, as in \"*\"" : "look at the indentation and the quotes here"
            findings.fault("is not YAML: \(problem)\(within); \(cure)", at: path(mark, ""))
        case .reader(let problem, let offset, _, _):
            let line = text.prefix(offset ?? 0).count { $0 == "\n" } + 1
            findings.fault("is not YAML: \(problem)", at: file.at(line: line, column: 1))
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded, .duplicatedKeysInMapping:
            findings.fault("is not YAML", at: file)
        }
    }
}
