import Foundation

/// Reads this package's folders, imports, manifest and architecture page.
enum SourceTree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// `Sources/<layer>/<target>`, `Plugins/<kind>/<target>` and `Tests/Support/<target>`.
    static func targetFolders() throws -> Set<String> {
        var parents = ["Tests/Support"]
        for top in ["Sources", "Plugins"] { parents += try subfolders(of: top).map { "\(top)/\($0)" } }
        var folders: Set<String> = []
        for parent in parents { folders.formUnion(try subfolders(of: parent).map { "\(parent)/\($0)" }) }
        return folders
    }

    static func swiftFiles(of target: ImportRules.Target) throws -> [URL] {
        let folder = root.appending(path: target.path)
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (all?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }

    static func imports(of file: URL) throws -> Set<String> {
        let modules = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
            line -> String? in
            let words = line.split(separator: " ")
            guard let position = words.firstIndex(of: "import"), position <= 2, position + 1 < words.count else {
                return nil
            }
            return String(words[position + 1].prefix { $0 != "." })
        }
        return Set(modules)
    }

    /// The targets of this package that a target's declaration in `Package.swift` names. Nil if there is no declaration.
    static func dependencies(of target: ImportRules.Target, in package: String) -> Set<String>? {
        if target.folder == "Plugins/Features" { return featureDependencies(of: target.name, in: package) }
        guard let declarations = package.range(of: "targets: [\n", options: .backwards),
            let name = package.range(of: "\"\(target.name)\"", range: declarations.upperBound..<package.endIndex)
        else { return nil }
        // A declaration ends before the next line with an indentation of eight spaces: a declaration or a comment.
        let rest = package[name.upperBound...]
        let end = rest.range(of: #"\n {8}[a-z./]"#, options: .regularExpression)?.lowerBound ?? rest.endIndex
        var declared = Set(rest[..<end].matches(of: /"([A-Za-z0-9]+)"/).map { String($0.output.1) })
        for (list, folder) in [
            ("features", "Features"), ("keyBackends", "KeyBackends"), ("auditStores", "AuditStores"),
        ]
        where rest[..<end].contains(list) {
            declared.formUnion(ImportRules.targets.filter { $0.folder == "Plugins/\(folder)" }.map(\.name))
        }
        return declared.intersection(ImportRules.targets.map(\.name))
    }

    /// Nil if the feature is not in `featureList`.
    private static func featureDependencies(of name: String, in package: String) -> Set<String>? {
        guard package.contains("    \"\(name)\": ["),
            let rule = package.firstMatch(of: /plugin\("Features", name, \[(.*)\],/)
        else { return nil }
        return Set(rule.output.1.matches(of: /[A-Za-z0-9]+/).map { String($0.output) })
    }

    /// The rows `| … | target | what it is | imports of ours |` of the architecture page.
    static func tableRows(of page: String) -> [String: Set<String>] {
        var rows: [String: Set<String>] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0 }
            guard cells.count == 6 else { continue }
            for name in cells[2].matches(of: /`([A-Za-z0-9]+)(?:\/\*)?`/) {
                rows[String(name.output.1)] = Set(cells[4].matches(of: /[A-Za-z0-9]+/).map { String($0.output) })
            }
        }
        return rows
    }

    static func subfolders(of path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            at: root.appending(path: path), includingPropertiesForKeys: [.isDirectoryKey]
        )
        .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
        .map(\.lastPathComponent)
    }
}
