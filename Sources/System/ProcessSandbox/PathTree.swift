/// Paths with special rights, by their components.
struct PathTree {
    private(set) var children: [String: PathTree] = [:]
    /// The rights at this path and below it; empty for a hidden path. Nil for the rights of the parent.
    private(set) var access: LandlockAccess?

    mutating func insert(_ path: String, _ access: LandlockAccess) {
        insert(ArraySlice(Self.components(of: path)), access)
    }

    private mutating func insert(_ components: ArraySlice<String>, _ access: LandlockAccess) {
        guard let first = components.first else { return self.access = access }
        children[first, default: PathTree()].insert(components.dropFirst(), access)
    }

    /// The part of the tree at a path: without children if nothing below the path is special. Nil if the path is
    /// hidden, itself or by a directory above it.
    func subtree(at path: String) -> PathTree? {
        var found = self
        for component in Self.components(of: path) {
            if found.access == [] { return nil }
            found = found.children[component] ?? PathTree()
        }
        return found.access == [] ? nil : found
    }

    static func components(of path: String) -> [String] {
        path.split(separator: "/").map(String.init)
    }
}
