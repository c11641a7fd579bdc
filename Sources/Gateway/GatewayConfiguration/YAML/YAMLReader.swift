import CYaml

/// Reads a source into nodes from the events of libyaml, which is a part of Yams. It accepts one document, and no
/// anchors, tags, repeated keys or keys that are not text.
///
/// Scalars stay text until a reader wants a number or a Boolean. So `keyId: 12E4567890` is not a number, and
/// `verification: off` is not false.
struct YAMLReader {
    /// No setting is deeper. The functions that visit the nodes are recursive.
    static let maximumDepth = 16

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: String
    /// libyaml counts the characters of `text` like this.
    private let scalars: [Unicode.Scalar]
    private let file: ConfigurationOrigin
    private var anchors: Set<String> = []
    private var faults: [ConfigurationFinding] = []

    /// The document's root. Nil without a document, or with a fault in `findings` if the text is not YAML. Nodes with
    /// other faults are left out or `faulty`.
    static func read(_ source: YAMLSource, _ file: ConfigurationOrigin, _ findings: Findings) -> SettingNode? {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            findings.fault("is not YAML", at: file)
            return nil
        }
        defer { yaml_parser_delete(parser) }
        return Array(source.text.utf8).withUnsafeBufferPointer { bytes in
            guard !bytes.isEmpty else { return nil }
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            var reader = YAMLReader(
                parser: parser, text: source.text, scalars: Array(source.text.unicodeScalars), file: file)
            do throws(Refusal) {
                let root = try reader.document()
                for fault in reader.faults { findings.fault(fault.sentence, at: fault.origin) }
                return root
            } catch {
                findings.fault(error.fault.sentence, at: error.fault.origin)
                return nil
            }
        }
    }

    /// Ends the reading. It is the only fault that the file then has.
    private struct Refusal: Error {
        let fault: ConfigurationFinding

        init(_ sentence: String, at origin: ConfigurationOrigin) {
            fault = ConfigurationFinding(origin: origin, sentence: sentence)
        }
    }

    private mutating func document() throws(Refusal) -> SettingNode? {
        guard let event = try next() else { return nil }
        let root = try node(event, at: "", depth: 0)
        _ = try next()
        if let second = try next() {
            throw Refusal(
                "begins a second document; give only one, so remove the line \"---\"", at: origin(second.mark, ""))
        }
        return root
    }

    private mutating func node(_ event: Event, at path: String, depth: Int) throws(Refusal) -> SettingNode {
        let origin = origin(event.mark, path)
        let fault: String? =
            if depth >= Self.maximumDepth {
                "nests deeper than any setting does"
            } else if event.hasAnchor {
                "has an anchor; anchors are not supported, so remove the word that begins with &"
            } else if event.hasTag {
                Self.tagFault
            } else if case .scalar(let text, _) = event.content {
                MisplacedSecrets.fault(in: text)
            } else {
                nil
            }
        if let fault {
            faults.append(ConfigurationFinding(origin: origin, sentence: fault))
            try skip(event)
            return SettingNode(content: .faulty, origin: origin)
        }
        switch event.content {
        case .scalar(let text, let isPlain):
            return SettingNode(content: .scalar(text, isPlain: isPlain), origin: origin)
        case .list:
            var elements: [SettingNode] = []
            while let element = try next() {
                elements.append(try node(element, at: origin.child(elements.count).path, depth: depth + 1))
            }
            return SettingNode(content: .list(elements), origin: origin)
        case .mapping:
            return SettingNode(content: .mapping(try entries(of: origin, depth)), origin: origin)
        }
    }

    private mutating func entries(
        of mapping: ConfigurationOrigin, _ depth: Int
    ) throws(Refusal) -> [SettingNode.Entry] {
        var entries: [SettingNode.Entry] = []
        var lines: [String: Int] = [:]
        while let key = try next() {
            var keyOrigin = origin(key.mark, mapping.path)
            let fault: String?
            if case .scalar(let name, _) = key.content, !key.hasAnchor {
                keyOrigin = origin(key.mark, mapping.child(Excerpt.name(name)).path)
                let repetition = lines[name].map { "is given twice, first on line \($0); keep one of them" }
                fault = key.hasTag ? Self.tagFault : MisplacedSecrets.fault(in: name) ?? repetition
                if fault == nil, let value = try next() {
                    lines[name] = keyOrigin.line
                    let node = try node(value, at: keyOrigin.path, depth: depth + 1)
                    entries.append(SettingNode.Entry(name: name, origin: keyOrigin, value: node))
                }
            } else {
                fault = "has a key that is not a name; write each key as one word"
            }
            guard let fault else { continue }
            faults.append(ConfigurationFinding(origin: keyOrigin, sentence: fault))
            try skip(key)
            if let value = try next() { try skip(value) }
        }
        return entries
    }

    private static let tagFault = "has a tag; tags are not supported, so remove the word that begins with !"

    private mutating func skip(_ event: Event) throws(Refusal) {
        if case .scalar = event.content { return }
        while let inner = try next() { try skip(inner) }
    }

    private func origin(_ mark: yaml_mark_t, _ path: String) -> ConfigurationOrigin {
        ConfigurationOrigin(
            source: file.source, line: Int(mark.line) + 1, column: Int(mark.column) + 1, path: path)
    }
}

extension YAMLReader {
    /// The beginning of a node.
    private struct Event {
        enum Content {
            case scalar(String, isPlain: Bool)
            case list, mapping
        }

        let content: Content
        let mark: yaml_mark_t
        let hasAnchor: Bool
        let hasTag: Bool
    }

    /// Nil at the end of a list, a mapping, a document or the stream.
    private mutating func next() throws(Refusal) -> Event? {
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
            defer { yaml_event_delete(&event) }
            let mark = event.start_mark
            switch event.type {
            case YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT: continue
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                let text = String(
                    decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
                // libyaml reports no tag for `! text`, but the mark is the position of the tag.
                let hasTag = scalars.dropFirst(Int(mark.index)).first == "!"
                return Event(
                    content: .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), mark: mark,
                    hasAnchor: note(scalar.anchor), hasTag: hasTag)
            case YAML_SEQUENCE_START_EVENT:
                let list = event.data.sequence_start
                return Event(content: .list, mark: mark, hasAnchor: note(list.anchor), hasTag: list.tag != nil)
            case YAML_MAPPING_START_EVENT:
                let mapping = event.data.mapping_start
                return Event(content: .mapping, mark: mark, hasAnchor: note(mapping.anchor), hasTag: mapping.tag != nil)
            case YAML_ALIAS_EVENT:
                // Operators write patterns such as *.example; YAML reads the star as an alias.
                let isAlias = event.data.alias.anchor.map { anchors.contains(String(cString: $0)) } ?? true
                throw Refusal(
                    isAlias
                        ? "uses an alias; aliases are not supported, so write the value out"
                        : "is not YAML: found undefined alias; \(Self.starCure)", at: origin(mark, ""))
            default: return nil
            }
        }
    }

    /// Whether there is an anchor, which then counts as defined.
    private mutating func note(_ anchor: UnsafeMutablePointer<yaml_char_t>?) -> Bool {
        guard let anchor else { return false }
        anchors.insert(String(cString: anchor))
        return true
    }

    private static let starCure = "put what begins with * in quotes, as in \"*\""

    /// libyaml's messages contain nothing of the file.
    private func syntaxError() -> Refusal {
        let error = parser.pointee
        let problem = error.problem.map { String(cString: $0) } ?? ""
        switch error.error {
        case YAML_SCANNER_ERROR, YAML_PARSER_ERROR:
            let context = error.context.map { String(cString: $0) }
            let within = context.map { " (\($0), which begins on line \(error.context_mark.line + 1))" } ?? ""
            let isStar = "\(problem)\(within)".contains("alias")
            let cure = isStar ? Self.starCure : "look at the indentation and the quotes here"
            return Refusal("is not YAML: \(problem)\(within); \(cure)", at: origin(error.problem_mark, ""))
        case YAML_READER_ERROR:
            let line = text.utf8.prefix(error.problem_offset).count { $0 == UInt8(ascii: "\n") } + 1
            return Refusal("is not YAML: \(problem)", at: file.at(line: line, column: 1))
        default: return Refusal("is not YAML", at: file)
        }
    }
}
