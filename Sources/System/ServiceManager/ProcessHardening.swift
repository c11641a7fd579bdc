import CLinux
import Glibc

/// The measures of a process with keys at its start: they protect its memory and files, and raise the descriptor limit.
public enum ProcessHardening: String, Sendable, CaseIterable {
    /// `PR_SET_DUMPABLE` 0: no core dump, no debugger of the same user, no access to `/proc/PID/mem` (prctl(2)).
    case notDumpable
    /// `RLIMIT_CORE` 0, soft and hard. Child processes inherit it.
    case noCoreDump
    /// `umask` 0077.
    case privateFiles
    /// `RLIMIT_NOFILE`: raises the soft limit to the hard one. Nothing here uses select(2), which ends at 1024.
    case allDescriptors

    /// Takes the measures. A measure that is in force already is no failure.
    ///
    /// - Returns: the refused measures with their `errno`, which justify a warning but no failed start.
    public static func apply(
        _ measures: [ProcessHardening] = allCases
    ) -> [(measure: ProcessHardening, errno: Int32)] {
        measures.map { ($0, $0.apply()) }.filter { $0.errno != 0 }
    }

    /// Takes only the measures that keep this process's memory out of files and other processes.
    public static func protectMemory() -> [(measure: ProcessHardening, errno: Int32)] {
        apply([.notDumpable, .noCoreDump])
    }

    /// - Returns: 0, or `errno`.
    private func apply() -> Int32 {
        switch self {
        case .notDumpable: return privyseal_set_dumpable(0) == 0 ? 0 : errno
        case .noCoreDump:
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            return setrlimit(Self.core, &none) == 0 ? 0 : errno
        case .privateFiles:
            umask(0o077)
            return 0
        case .allDescriptors:
            guard var limit = Self.limit(Self.descriptors) else { return errno }
            limit.rlim_cur = limit.rlim_max
            return setrlimit(Self.descriptors, &limit) == 0 ? 0 : errno
        }
    }

    /// The maximum number of open files (the soft limit of `RLIMIT_NOFILE`); nil if there is no limit.
    public static var descriptorLimit: Int? {
        guard let limit = limit(descriptors), limit.rlim_cur != rlim_t.max else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    private static let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static func limit(_ resource: __rlimit_resource_t) -> rlimit? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? limit : nil
    }
}
