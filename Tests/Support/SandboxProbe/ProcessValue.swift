import Foundation
import Glibc
import SandboxAttempts

/// A property of this process that a layer sets.
enum ProcessValue: String {
    case pid, umask
    /// 1 if the process leads its session.
    case session
    case noNewPrivileges
    case dumpable
    case oomScore
    case coreLimit, descriptorLimit
    /// The number of permitted capabilities that SandboxLayer.capabilities removes.
    case capabilities

    func read() -> Int32 {
        switch self {
        case .pid: getpid()
        case .umask: Int32(Glibc.umask(0))
        case .session: getsid(0) == getpid() ? 1 : 0
        case .noNewPrivileges: status("NoNewPrivs") == "1" ? 1 : 0
        case .dumpable: sandbox_is_dumpable()
        case .oomScore: contents("/proc/self/oom_score_adj").flatMap { Int32($0) } ?? -1
        case .coreLimit: limit(RLIMIT_CORE)
        case .descriptorLimit: limit(RLIMIT_NOFILE)
        case .capabilities: Int32(((status("CapPrm").flatMap { UInt64($0, radix: 16) } ?? 0) & ~0x401F).nonzeroBitCount)
        }
    }

    private func limit(_ resource: __rlimit_resource) -> Int32 {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? Int32(clamping: limit.rlim_max) : -1
    }

    private func status(_ name: String) -> String? {
        contents("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("\(name):") }?
            .split(separator: "\t").last.map(String.init)
    }

    private func contents(_ path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .newlines)
    }
}
