/// A restriction of a process. Each one is in force, or missing for a reason, independently of the others.
public enum SandboxLayer: String, CaseIterable, Codable, Sendable {
    /// A session of its own (setsid(2)): no signals from a terminal.
    case session
    /// `umask` 0077.
    case privateFiles
    /// `SIGTERM`, `SIGINT`, `SIGHUP` and `SIGPIPE` are ignored, all other signals have their default action, and none
    /// is blocked. systemd sends `SIGTERM` to each process of a service, but the gateway ends its signers itself.
    case signals
    /// `RLIMIT_CORE` 0.
    case noCoreDump
    /// `RLIMIT_NOFILE`.
    case descriptorLimit
    /// `oom_score_adj` raised by 500: if memory runs out, the kernel kills this process before its parent (proc(5)).
    case oomScore
    /// `PR_SET_NO_NEW_PRIVS`: no set-user-ID program gives privileges (prctl(2)).
    case noNewPrivileges
    /// No capabilities except those for files and locked memory (capabilities(7)). Without capabilities, a process of
    /// root cannot trace a parent that has more of them (ptrace(2)).
    case capabilities
    /// A mount namespace in which `SandboxPolicy.hiddenPaths` cannot be opened (mount_namespaces(7)). Without it, the
    /// layer `files` hides them.
    case mounts
    /// Landlock's rules for files and directories (landlock(7)).
    case files
    /// Landlock refuses TCP.
    case tcp
    /// Landlock refuses signals to processes outside of the sandbox.
    case signalScope
    /// Landlock refuses connections to abstract Unix sockets outside of the sandbox.
    case socketScope
    /// `RLIMIT_DATA`.
    case memoryLimit
    /// `PR_SET_DUMPABLE` 0: no other process of the user can read this one's memory (prctl(2)).
    case notDumpable
    /// `PR_SET_PDEATHSIG` `SIGKILL`: the kernel kills this process when the thread ends that created it (prctl(2)).
    case parentDeath
    /// The seccomp filter (`SystemCallFilter`).
    case systemCalls
}
