import AWSKMS
import AdvancedCommerce
import Foundation
import P8
import PKCS11Token
import SigningKit
import Testing

@testable import GatewayConfiguration

/// The table of settings, written into the reference pages.
///
/// A page has blocks. `settings under limits` contains the settings of a section, `settings listen logging` the named
/// settings with their members, and `variables` the environment variables. A setting belongs to the block with the longest
/// matching prefix. With `PRIVYSEAL_WRITE_REFERENCE=1`, the tests write the pages instead of comparing them.
@Suite("The reference pages agree with the table of settings")
struct ReferenceTests {
    private static let rows: [SettingReference] = {
        let plugins = Plugins(
            features: [], featureSettings: AdvancedCommerce.settings,
            backends: [AWSKMSBackend.self, P8Backend.self, PKCS11TokenBackend.self])
        let origin = ConfigurationOrigin(source: "")
        return GatewayConfiguration.reference(of: GatewayConfiguration(file: origin, digest: [], plugins))
    }()

    @Test("docs/configuration.md has the values, default and meaning of each setting")
    func page() throws {
        try check("docs/configuration.md", begin: "<!-- ", beginEnd: " -->", end: "<!-- end -->") { block, rows in
            guard block != "variables" else {
                return ["", "| variable | key |", "|---|---|"]
                    + rows.map { row in "| `\(row.variable ?? "")` | `\(row.path)` |" } + [""]
            }
            return ["", "| key | values | default | meaning |", "|---|---|---|---|"]
                + rows.map { row in
                    let name = row.path.dropFirst(Self.hiddenPrefix(of: block).count)
                    let restart = row.needsRestart ? ". Needs a restart" : ""
                    return "| `\(name)` | \(row.values) | \(row.standard) | \(row.summary)\(restart) |"
                } + [""]
        }
    }

    @Test("gateway.yaml(5) has the values, default and meaning of each setting")
    func manual() throws {
        try check("packaging/man/gateway.yaml.5", begin: ".\\\" ", beginEnd: "", end: ".\\\" end") { block, rows in
            guard block != "variables" else {
                return rows.enumerated().map { index, row in
                    ".BR \(row.variable ?? "") \(index == rows.count - 1 ? "." : ",")"
                }
            }
            return rows.flatMap { row in
                let text =
                    row.summary.prefix(1).uppercased() + row.summary.dropFirst() + ". Values: \(row.values). "
                    + (row.standard == "required" ? "Required." : "Default: \(row.standard).")
                    + (row.needsRestart ? " Needs a restart." : "")
                return [".TP", ".B " + Self.roff(row.path)] + Self.lines(Self.roff(text))
            }
        }
    }

    @Test("the default of each setting of a plugin is valid")
    func defaults() {
        for setting in AdvancedCommerce.settings + P8Backend.settings + PKCS11TokenBackend.settings {
            #expect(setting.kind.fault(of: setting.kind.defaultValue) == nil)
        }
    }

    private func check(
        _ path: String, begin: String, beginEnd: String, end: String,
        _ write: (String, [SettingReference]) -> [String]
    ) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: path)
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        let blocks = lines.filter { $0.hasPrefix(begin) && $0 != end }.map {
            String($0.dropFirst(begin.count).dropLast(beginEnd.count))
        }.filter { $0.hasPrefix("settings ") || $0 == "variables" }
        #expect(Self.rows.allSatisfy { Self.block(of: $0, among: blocks) != nil })
        var (written, isInBlock) = ([String](), false)
        for line in lines {
            if line == end { isInBlock = false }
            if !isInBlock { written.append(line) }
            guard let block = blocks.first(where: { line == begin + $0 + beginEnd }) else { continue }
            isInBlock = true
            let rows = Self.rows.filter {
                block == "variables" ? $0.variable != nil : Self.block(of: $0, among: blocks) == block
            }
            written += write(block, rows)
        }
        if ProcessInfo.processInfo.environment["PRIVYSEAL_WRITE_REFERENCE"] != nil {
            try written.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        } else if let difference = zip(lines + [""], written + [""]).first(where: { $0 != $1 }) {
            Issue.record("\(path) has: \(difference.0)\nbut the table has: \(difference.1)")
        }
    }

    /// The block with the longest prefix of the row's path.
    private static func block(of row: SettingReference, among blocks: [String]) -> String? {
        let prefixes = blocks.flatMap { block in
            block.hasPrefix("settings under ")
                ? [(hiddenPrefix(of: block), block)]
                : block.split(separator: " ").dropFirst().map { (String($0), block) }
        }
        return prefixes.filter { prefix, _ in
            prefix.hasSuffix(".") ? row.path.hasPrefix(prefix) : row.path == prefix || row.path.hasPrefix(prefix + ".")
        }.max { $0.0.count < $1.0.count }?.1
    }

    /// Such as `limits.` for `settings under limits`.
    private static func hiddenPrefix(of block: String) -> String {
        let words = block.split(separator: " ")
        return words.count == 3 && words[1] == "under" ? words[2] + "." : ""
    }

    /// Text as roff takes it literally: code in bold, links without their destination.
    private static func roff(_ text: String) -> String {
        let plain = text.replacing(/\[([^\]]+)\]\([^)]*\)/) { $0.output.1 }.replacing("\\", with: "\\e")
            .replacing("-", with: "\\-").replacing("'", with: "\\(aq").replacing("§", with: "\\(sc")
        return plain.replacing(/`([^`]*)`/) { "\\fB\($0.output.1)\\fR" }
    }

    /// Lines of at most 78 characters. No line begins with a dot, which would be a request.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < 78 {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append((word.hasPrefix(".") ? "\\&" : "") + word)
            }
        }
        return lines
    }
}
