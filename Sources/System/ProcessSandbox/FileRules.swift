import Glibc

/// The Landlock rules of a policy for files.
///
/// Landlock only allows. To hide a path, each directory above it gets no rule, and each other entry of such a directory
/// gets one. So three things are out of reach besides the hidden paths: the lists of entries of these directories,
/// new entries in them, and entries that are created or replaced there later.
///
/// A rule belongs to an inode. A hidden file stays in reach by another hard link, and by the lower directories of an
/// overlay. Mounts of the same file system are found (`MountTable`).
struct FileRules {
    /// Readable with a list of `SandboxPolicy.paths`. /proc is whole: an inode below it lasts only as long as the kernel
    /// caches it, and so does a rule for it. Landlock refuses what ptrace(2) would, such as the memory of others.
    static let systemDirectories = [
        "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/proc", "/sys",
    ]
    /// The limit of rules, for a short start.
    static let ruleLimit = 10_000

    private let policy: SandboxPolicy
    private var special = PathTree()
    private var remainingRules = FileRules.ruleLimit
    /// Sentences for `SandboxReport.limits`.
    private(set) var limits: [String] = []

    init(_ policy: SandboxPolicy) {
        self.policy = policy
        if policy.paths.isEmpty {
            // A process of root could write to files there that make the kernel start programs.
            for path in ["/proc", "/sys"] { special.insert(path, .reading) }
        }
        for path in policy.hiddenPaths { hide(path) }
    }

    mutating func add(to ruleset: borrowing LandlockRuleset) {
        let all = ruleset.handled.subtracting(.withheld)
        guard !policy.paths.isEmpty else { return allow("/", all, ruleset) }
        for path in Self.systemDirectories { allow(path, .reading, ruleset) }
        allow("/dev", .devices, ruleset)
        for path in policy.paths { allow(path, all, ruleset) }
    }

    private mutating func hide(_ path: String) {
        let path = ResolvedPath.of(path)
        special.insert(path, [])
        if let table = try? TextFile.read("/proc/self/mountinfo") {
            for alias in MountTable(table).aliases(of: path) { special.insert(alias, []) }
        } else {
            limits.append("The mount table cannot be read, so another mount may show \(path).")
        }
        var found = stat()
        if stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_nlink > 1 {
            limits.append("\(path) has \(found.st_nlink) hard links; only this one is hidden.")
        }
    }

    private mutating func allow(_ path: String, _ access: LandlockAccess, _ ruleset: borrowing LandlockRuleset) {
        let resolved = ResolvedPath.of(path)
        guard let subtree = special.subtree(at: resolved) else {
            return limits.append("\(path) is in paths and in hiddenPaths; it is hidden.")
        }
        walk(resolved, subtree, access, ruleset)
    }

    private mutating func walk(
        _ path: String, _ tree: PathTree, _ access: LandlockAccess, _ ruleset: borrowing LandlockRuleset
    ) {
        let access = tree.access.map { $0.intersection(access) } ?? access
        guard access != [] else { return }
        guard !tree.children.isEmpty else { return ruleset.allow(path, access) }
        guard let directory = Directory(path), let entries = directory.entries(limit: remainingRules) else {
            return limits.append("\(path) cannot be read or has too many entries, so all of it is hidden.")
        }
        remainingRules -= entries.count
        for entry in entries {
            if let subtree = tree.children[entry.name] {
                walk(path == "/" ? "/\(entry.name)" : "\(path)/\(entry.name)", subtree, access, ruleset)
            } else {
                ruleset.allow(entry.name, access, in: directory.descriptor, kind: entry.kind)
            }
        }
    }
}
