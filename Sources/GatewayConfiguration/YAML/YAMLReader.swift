import Yams

/// Reads a source into nodes, with libyaml behind Yams. Strict: one document, no anchors, no tags, keys are text, none
/// of them twice.
///
/// Scalars stay text. What is a number or a Boolean is decided where one is wanted, so `keyId: 12E4567890` is not a
/// number, nor `verification: off` false.
struct YAMLReader {
    /// No setting is deeper; and whoever walks the nodes recurses.
    static let maximumDepth = 16

    private let findings: Findings
    private let file: ConfigurationOrigin
    private var repeatedKeys = RepeatedKeys()
    private var exclamationMarks: Set<Place> = []

    init(_ file: ConfigurationOrigin, _ findings: Findings) {
        self.file = file
        self.findings = findings
    }

    /// The document's root, or nil when there is none or it is no YAML; then `findings` says why. What is wrong inside is
    /// left out of the nodes.
    mutating func read(_ source: YAMLSource) -> SettingNode? {
        var text = source.text
        exclamationMarks = Place.exclamationMarks(in: text)
        while true {
            do {
                return try document(text)
            } catch .duplicatedKeysInMapping(let keys, let context) {
                guard let marked = repeatedKeys.mark(text) else {
                    let key = Self.subject(keys.first.map { repeatedKeys.original(of: $0) })
                    findings.fault(.syntax("gives \(key) twice; keep one of them"), at: place(context.mark, ""))
                    return nil
                }
                text = marked
            } catch {
                fault(error, in: text)
                return nil
            }
        }
    }

    /// A key that is there twice, where its path is not known.
    private static func subject(_ key: String?) -> String {
        let name = key.map(Excerpt.name) ?? "…"
        return name == "…" ? "a key" : "the key \(name)"
    }

    private func document(_ text: String) throws(YamlError) -> SettingNode? {
        do {
            let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            // The nodes hold their anchors weakly; the parser owns them.
            return try withExtendedLifetime(parser) {
                guard let root = try parser.nextRoot() else { return nil }
                if let second = try parser.nextRoot() {
                    findings.fault(
                        .syntax("begins a second document; the configuration is one, so remove the line \"---\""),
                        at: place(second.mark, ""))
                    return nil
                }
                return node(root, at: place(root.mark, ""), depth: 0)
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
            let cure = "anchors are not taken here, so remove the word that begins with &"
            return refuse("has an anchor; \(cure)", at: origin)
        }
        guard !hasTag(node) else { return refuse(Self.tagFault, at: origin) }
        switch node {
        case .scalar(let scalar):
            return .scalar(repeatedKeys.original(of: scalar.string), isPlain: scalar.style == .plain)
        case .sequence(let sequence):
            let elements = sequence.enumerated().map { index, element in
                self.node(element, at: place(element.mark, origin.child(index).path), depth: depth + 1)
            }
            return .list(elements)
        case .mapping(let mapping):
            return .mapping(entries(of: mapping, at: origin, depth))
        case .alias:
            // Yams itself puts the anchor's node in its place.
            return refuse("is an alias; aliases are not taken here, so write the value out", at: origin)
        }
    }

    private func entries(of mapping: Node.Mapping, at origin: ConfigurationOrigin, _ depth: Int) -> [SettingNode.Entry]
    {
        var lines: [String: Int] = [:]
        return mapping.compactMap { key, value in
            guard let written = key.scalar?.string, key.anchor == nil else {
                let place = place(key.mark, origin.path)
                findings.fault(.syntax("has a key that is not a name; write each key as one word"), at: place)
                return nil
            }
            let name = repeatedKeys.original(of: written)
            let keyOrigin = place(key.mark, origin.child(Excerpt.name(name)).path)
            guard !hasTag(key) else {
                findings.fault(.syntax(Self.tagFault), at: keyOrigin)
                return nil
            }
            if let first = lines[name] {
                findings.fault(.duplicateKey(firstLine: first), at: keyOrigin)
                return nil
            }
            lines[name] = keyOrigin.line ?? 0
            let node = node(value, at: place(value.mark ?? key.mark, keyOrigin.path), depth: depth + 1)
            return SettingNode.Entry(name: name, origin: keyOrigin, value: node)
        }
    }

    private func refuse(_ sentence: String, at origin: ConfigurationOrigin) -> SettingNode.Content {
        findings.fault(.syntax(sentence), at: origin)
        return .faulty
    }

    private static let tagFault = "has a tag; tags are not taken here, so remove the word that begins with !"

    /// Whether a tag is written before the value, or Yams knows of one. Yams gives text in quotes the tag of all text
    /// (YAML 1.2.2 §10.1), so that tag alone says nothing; libyaml's mark of a value with a tag is where the tag begins.
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

    /// Of a character, counted from 1.
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

    private func place(_ mark: Mark?, _ path: String) -> ConfigurationOrigin {
        ConfigurationOrigin(source: file.source, line: mark?.line, column: mark?.column, path: path)
    }

    /// libyaml's sentences are fixed: they repeat nothing of the file. Yams' own descriptions would show the line.
    private func fault(_ error: YamlError, in text: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let within = context.map { " (\($0.text), which begins on line \($0.mark.line))" } ?? ""
            // A pattern such as *.example is what people write; YAML takes the star for the mark of an alias.
            let isStar = problem.contains("alias") || context?.text.contains("alias") == true
            let cure =
                isStar ? "put what begins with * in quotes, as in \"*\"" : "look at the indentation and the quotes here"
            findings.fault(.syntax("is not YAML: \(problem)\(within); \(cure)"), at: place(mark, ""))
        case .reader(let problem, let offset, _, _):
            let line = text.prefix(offset ?? 0).count { $0 == "\n" } + 1
            findings.fault(.syntax("is not YAML: \(problem)"), at: file.at(line: line, column: 1))
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded, .duplicatedKeysInMapping:
            findings.fault(.syntax("is not YAML"), at: file)
        }
    }
}
