import CPrctl
import Glibc

/// What a process that holds keys does to itself first: its memory is not for others to read, its files are not for
/// others to open, and it does not run out of descriptors before the system does.
public enum ProcessHardening: String, Sendable, CaseIterable {
    /// `PR_SET_DUMPABLE` 0: no core dump, no debugger of the same user, no reading of `/proc/PID/mem` (prctl(2)).
    case notDumpable
    /// `RLIMIT_CORE` 0, for children too; soft and hard.
    case noCoreDump
    /// `umask` 0077.
    case privateFiles
    /// `RLIMIT_NOFILE`: the soft limit is raised to the hard one. Nothing here uses select(2), which ends at 1024.
    case allDescriptors

    /// Takes all measures; what is in force already is no failure.
    ///
    /// - Returns: those that the system refused, each with its `errno`: worth a warning, and no reason not to start.
    public static func apply() -> [(measure: ProcessHardening, errno: Int32)] {
        allCases.compactMap { measure in
            let result = measure.apply()
            return result == 0 ? nil : (measure, result)
        }
    }

    /// Takes the measures that keep this process's memory out of files and of other processes, and no other.
    ///
    /// - Returns: as `apply()`.
    public static func protectMemory() -> [(measure: ProcessHardening, errno: Int32)] {
        [notDumpable, noCoreDump].compactMap { measure in
            let result = measure.apply()
            return result == 0 ? nil : (measure, result)
        }
    }

    /// Whether the measure is in force now.
    public var isInForce: Bool {
        switch self {
        case .notDumpable: return privyseal_get_dumpable() == 0
        case .noCoreDump:
            guard let limit = Self.limit(Self.core) else { return false }
            return limit.rlim_cur == 0 && limit.rlim_max == 0
        case .privateFiles:
            // There is no asking without setting.
            let mask = umask(0o077)
            umask(mask)
            return mask & 0o077 == 0o077
        case .allDescriptors:
            guard let limit = Self.limit(Self.descriptors) else { return false }
            return limit.rlim_cur == limit.rlim_max
        }
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

    /// Files that the process may have open at once (`RLIMIT_NOFILE`, the soft limit); nil where it may have as many as it likes.
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
