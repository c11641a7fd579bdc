import Foundation
import SigningKit
import StrictJSON

/// The request of `privyseal sign`, from a file, from standard input or from `NAME=VALUE` arguments.
struct RequestInput {
    /// A path, or `-`.
    let file: String?
    /// Each is `NAME=VALUE`; for a member that is an object, also `NAME=@FILE`.
    let members: [String]
    let fields: [FeatureField]

    /// In bytes: the default of the HTTP service.
    private static let maximumSize = 1 << 16

    func body() throws -> [UInt8] {
        if let file { return try Self.read(file) }
        var values: [(name: String, json: [UInt8])] = []
        for member in members {
            guard let equals = member.firstIndex(of: "="), equals != member.startIndex else {
                throw RequestInputError("\"\(member)\" is not NAME=VALUE")
            }
            let name = String(member[..<equals])
            values.append((name, try json(String(member[member.index(after: equals)...]), for: name)))
        }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, json) in values {
                writer.name(escaping: name)
                writer.raw(json)
            }
        }
        return writer.bytes
    }

    /// Encodes a value by the member's kind. An unknown member becomes a string, which the feature refuses.
    private func json(_ value: String, for name: String) throws -> [UInt8] {
        switch fields.first(where: { $0.name == name })?.kind.json {
        case .boolean where value == "true" || value == "false": return Array(value.utf8)
        case .number where Int64(value) != nil: return Array(value.utf8)
        case .object: return value.hasPrefix("@") ? try Self.read(String(value.dropFirst())) : Array(value.utf8)
        default:
            var writer = JSONWriter()
            writer.string(value)
            return writer.bytes
        }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let data: Data
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            data = try handle.read(upToCount: maximumSize + 1) ?? Data()
        } catch {
            throw RequestInputError("\(path) cannot be read")
        }
        guard data.count <= maximumSize else { throw RequestInputError("\(path) is longer than \(maximumSize) bytes") }
        return Array(data)
    }
}

struct RequestInputError: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) {
        description = "The request cannot be used: \(sentence)."
    }
}
