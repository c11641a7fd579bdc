import Glibc

/// Absolute paths without symbolic links, as Landlock and the mount table know them.
enum ResolvedPath {
    /// Resolves a path (realpath(3)). Of a path that does not exist, it resolves the part that does.
    static func of(_ path: String) -> String {
        if let resolved = resolve(path) { return resolved }
        var existing = PathTree.components(of: path)
        var rest: [String] = []
        while let last = existing.popLast() {
            rest.insert(last, at: 0)
            guard let parent = resolve("/" + existing.joined(separator: "/")) else { continue }
            return join(parent, rest)
        }
        return path
    }

    /// Appends components; `..` removes one.
    static func join(_ path: String, _ components: [String]) -> String {
        var all = PathTree.components(of: path)
        for component in components where component != "." {
            if component == ".." { _ = all.popLast() } else { all.append(component) }
        }
        return "/" + all.joined(separator: "/")
    }

    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
