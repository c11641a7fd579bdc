import CProcessSandbox
import Glibc

/// Hides files in a mount namespace of the process. Unlike Landlock's rules, it leaves the files beside them in reach,
/// also those that are created later. Only root may do it (`CAP_SYS_ADMIN`).
struct MountLayer {
    /// Regular files that exist.
    private let files: [String]
    /// The other hidden paths that exist, such as directories.
    private let others: [String]
    private let linkLimits: [String]

    init(_ policy: SandboxPolicy) {
        let paths = policy.hiddenPaths.map(ResolvedPath.of)
        files = paths.filter { Self.status(of: $0).map { $0.st_mode & S_IFMT == S_IFREG } ?? false }
        others = policy.hiddenPaths.filter {
            ![S_IFREG, nil].contains(Self.status(of: $0).map { $0.st_mode & S_IFMT })
        }
        linkLimits =
            files.compactMap { path in
                guard let count = Self.status(of: path)?.st_nlink, count > 1 else { return nil }
                return "\(path) has \(count) hard links; only this one is hidden."
            }
            + Self.limit(ofMissing: paths.filter { Self.status(of: $0) == nil })
    }

    private static func limit(ofMissing paths: [String]) -> [String] {
        guard !paths.isEmpty else { return [] }
        return ["Not hidden, because they did not exist when the process started: \(paths.joined(separator: ", "))."]
    }

    /// Whether there is a file to hide.
    var isWanted: Bool { !files.isEmpty }

    /// - Returns: the hidden paths that are left to Landlock, and sentences on what stays visible.
    func apply() throws(LayerFailure) -> (remaining: [String], limits: [String]) {
        let table = MountTable(try TextFile.read("/proc/self/mountinfo"))
        try LayerFailure.check("unshare(CLONE_NEWNS)", errno: privyseal_private_mounts())
        for path in files.flatMap({ [$0] + table.aliases(of: $0) }) {
            try LayerFailure.check("mount over \(path)", errno: privyseal_cover_file(path))
        }
        return (others, linkLimits)
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
