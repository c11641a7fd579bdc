import CProcessSandbox
import Glibc

/// The layers that are one or two system calls.
enum ProcessLayers {
    enum Resource {
        case core, descriptors, data

        fileprivate var number: __rlimit_resource_t {
            switch self {
            case .core: __rlimit_resource_t(RLIMIT_CORE.rawValue)
            case .descriptors: __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            case .data: __rlimit_resource_t(RLIMIT_DATA.rawValue)
            }
        }
    }

    /// Sets the soft and the hard limit. A hard limit that is lower already stays, because only root may raise it
    /// (setrlimit(2)).
    static func limit(_ resource: Resource, to value: UInt64) throws(LayerFailure) {
        var limit = rlimit()
        guard getrlimit(resource.number, &limit) == 0 else { throw LayerFailure("getrlimit", errno: errno) }
        limit.rlim_max = min(limit.rlim_max, rlim_t(value))
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(resource.number, &limit) == 0 else { throw LayerFailure("setrlimit", errno: errno) }
    }

    static func startSession() throws(LayerFailure) {
        guard getsid(0) != getpid(), setsid() < 0 else { return }
        throw LayerFailure("setsid", errno: errno)
    }

    static func resetSignals() throws(LayerFailure) {
        let ignored: Set<Int32> = [SIGTERM, SIGINT, SIGHUP, SIGPIPE]
        // 64 is the last signal of Linux on x86_64 and aarch64; glibc reserves 32 and 33 (signal(7)).
        for number in 1...Int32(64) where ![SIGKILL, SIGSTOP, 32, 33].contains(number) {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = ignored.contains(number) ? SIG_IGN : SIG_DFL
            guard sigaction(number, &action, nil) == 0 else { throw LayerFailure("sigaction(\(number))", errno: errno) }
        }
        var none = sigset_t()
        sigemptyset(&none)
        try LayerFailure.check("pthread_sigmask", errno: pthread_sigmask(SIG_SETMASK, &none, nil))
    }

    static func raiseOOMScore() throws(LayerFailure) {
        let path = "/proc/self/oom_score_adj"
        let present = try TextFile.read(path).split(separator: "\n").first.flatMap { Int($0) } ?? 0
        // 1000 is the highest value (proc(5)).
        try TextFile.write("\(min(present + 500, 1000))", to: path)
    }

    /// The directory has a link for each thread, besides its own two (proc(5)).
    static func requireOneThread() throws(LayerFailure) {
        var tasks = stat()
        guard stat("/proc/self/task", &tasks) == 0 else { throw LayerFailure("stat /proc/self/task", errno: errno) }
        guard tasks.st_nlink == 3 else {
            throw LayerFailure("the process has \(Int(tasks.st_nlink) - 2) threads; the layer needs exactly one")
        }
    }

    static func forbidNewPrivileges() throws(LayerFailure) {
        try LayerFailure.check("prctl(PR_SET_NO_NEW_PRIVS)", errno: privyseal_prctl(PR_SET_NO_NEW_PRIVS, 1))
    }

    /// Keeps `CAP_CHOWN` (0), `CAP_DAC_OVERRIDE` (1), `CAP_DAC_READ_SEARCH` (2), `CAP_FOWNER` (3), `CAP_FSETID` (4)
    /// and `CAP_IPC_LOCK` (14) of <linux/capability.h>, if the process has them.
    static func limitCapabilities() throws(LayerFailure) {
        try LayerFailure.check("capset", errno: privyseal_limit_capabilities(0b1_1111 | 1 << 14))
    }

    static func forbidDumps() throws(LayerFailure) {
        try LayerFailure.check("prctl(PR_SET_DUMPABLE)", errno: privyseal_prctl(PR_SET_DUMPABLE, 0))
    }

    static func followParent(_ parent: Int32) throws(LayerFailure) {
        try LayerFailure.check("prctl(PR_SET_PDEATHSIG)", errno: privyseal_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL)))
        // The kernel sends no signal for a parent that ended before the call.
        guard getppid() == parent else { throw LayerFailure("the parent, process \(parent), has ended") }
    }
}
