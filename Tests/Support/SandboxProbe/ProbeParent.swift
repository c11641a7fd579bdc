import Foundation
import Glibc
import SandboxAttempts

/// The process that starts the sandboxed one, and that the attempts are directed at.
enum ProbeParent {
    /// The environment variable with the parent's process ID.
    static let variable = "SANDBOX_PROBE_PARENT"

    /// - Returns: the child's exit status, or 1.
    static func run(_ arguments: [String]) -> Int32 {
        sandbox_allow_tracing()
        // A shell starts background programs with some signals ignored, and a thread pool with most signals blocked.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        // The attempts read and write this byte.
        let target = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        setenv("SANDBOX_ATTEMPTS_ADDRESS", "\(UInt(bitPattern: target))", 1)
        setenv(variable, "\(getpid())", 1)
        var strings = (["SandboxProbe"] + arguments).map { strdup($0) } + [nil]
        var child: pid_t = 0
        guard posix_spawn(&child, "/proc/self/exe", nil, nil, &strings, environ) == 0 else { return 1 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) != child { if errno != EINTR { return 1 } }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
