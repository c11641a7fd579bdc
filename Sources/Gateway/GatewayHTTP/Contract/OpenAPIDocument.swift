public import SigningKit
import StrictJSON
import Yams

/// The OpenAPI document of the public listener: `openapi.yaml` with a copy of its blocks for each feature.
public struct OpenAPIDocument: Sendable {
    /// The document with the comments of `openapi.yaml`.
    public let yaml: String

    /// - Parameter features: All features, whether or not an app has them.
    public init(features: [FeatureDescriptor]) {
        let features = features.map(FeatureContract.init)
        var lines: [String] = []
        var block: [Substring]?
        for line in String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        {
            switch line.drop(while: { $0 == " " }) {
            case "# For each feature:": block = []
            case "# End.":
                lines += features.flatMap { feature in (block ?? []).map(feature.fill) }
                block = nil
            default:
                if block == nil { lines.append(String(line)) } else { block?.append(line) }
            }
        }
        yaml = lines.joined(separator: "\n")
    }

    /// The same document as JSON. It takes some milliseconds.
    ///
    /// - Throws: `YamlError` if a descriptor's `openAPI` is not YAML, or repeats a name.
    public func json() throws -> [UInt8] {
        var writer = JSONWriter(capacity: 1 << 18)
        if let root = try Yams.compose(yaml: yaml) { Self.write(root, to: &writer) }
        return writer.bytes
    }

    /// A plain scalar that JSON can read as a number, a Boolean or null is one; any other scalar is a string (the core
    /// of YAML 1.2.2 §10.2, without its other notations).
    private static func write(_ node: Node, to writer: inout JSONWriter) {
        switch node {
        case .mapping(let mapping):
            writer.object { writer in
                for (name, value) in mapping {
                    writer.name(escaping: name.string ?? "")
                    write(value, to: &writer)
                }
            }
        case .sequence(let sequence):
            writer.array { writer in for element in sequence { write(element, to: &writer) } }
        case .scalar(let scalar):
            let text = Array(scalar.string.utf8)
            if scalar.style == .plain, (try? JSONDocument(parsing: text)) != nil {
                writer.raw(text)
            } else {
                writer.string(scalar.string)
            }
        case .alias: writer.null()
        }
    }
}
