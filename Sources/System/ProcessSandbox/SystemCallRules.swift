import CProcessSandbox
import Glibc

/// The system calls that a signer does not need and that reach the kernel's administration or another process.
///
/// It is a list of refused calls. A list of allowed calls would depend on the vendor's library and its version.
enum SystemCallRules {
    /// - Parameter process: the ID of this process.
    static func all(_ network: SandboxPolicy.Network, process: UInt64) -> [SystemCallRule] {
        always.map { SystemCallRule($0) } + newProcess + signals(process) + scheduling + ownSettings + sockets(network)
    }

    /// The calls that are refused with all arguments.
    static let always = [
        // Other processes
        "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_open",
        "pidfd_getfd", "pidfd_send_signal", "tkill", "perf_event_open", "userfaultfd",
        // New programs. Threads are in `newProcess`.
        "execve", "execveat", "fork", "vfork",
        // Queues of calls that no filter sees
        "io_uring_setup", "io_uring_enter", "io_uring_register",
        // Keys of the kernel
        "add_key", "keyctl", "request_key",
        // The kernel and the machine
        "bpf", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon",
        "swapoff", "syslog", "acct", "quotactl", "quotactl_fd", "iopl", "ioperm", "personality", "settimeofday",
        "clock_settime", "sethostname", "setdomainname", "vhangup",
        // Mounts and namespaces
        "mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig",
        "fspick",
        "pivot_root", "chroot", "unshare", "setns",
        // Files without a path
        "open_by_handle_at",
        // Credentials
        "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups",
        "capset",
    ]

    /// clone(2) without `CLONE_THREAD`. clone3(2) has its flags in memory, which a filter cannot read; it is missing
    /// altogether (`SystemCallFilter`).
    private static let newProcess = [SystemCallRule("clone", .lacks(0, 0x0001_0000))]

    /// Signals to other processes, also those by which the kernel reports that a descriptor is ready (fcntl(2)).
    private static func signals(_ process: UInt64) -> [SystemCallRule] {
        ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"].map { SystemCallRule($0, .differs(0, process)) } + [
            SystemCallRule("fcntl", .equals(1, UInt32(F_SETOWN)), .differs(2, process)),
            SystemCallRule("fcntl", .equals(1, 15)),  // F_SETOWN_EX
            SystemCallRule("ioctl", .equals(1, 0x8901)),  // FIOSETOWN
            SystemCallRule("ioctl", .equals(1, 0x8902)),  // SIOCSPGRP
        ]
    }

    /// The scheduling of other processes of the same user. A filter cannot tell the IDs of this process's own threads from
    /// others, so a thread may change only itself, as 0.
    private static let scheduling =
        ["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"].map {
            SystemCallRule($0, .differs(0, 0))
        } + [
            SystemCallRule("setpriority", .differs(0, 0)),  // PRIO_PROCESS
            SystemCallRule("setpriority", .differs(1, 0)),
            SystemCallRule("ioprio_set", .differs(0, 1)),  // IOPRIO_WHO_PROCESS
            SystemCallRule("ioprio_set", .differs(1, 0)),
        ]

    /// Calls that undo a layer, change another process's limits, or write into a terminal.
    private static let ownSettings = [
        SystemCallRule("prctl", .equals(0, UInt32(PR_SET_PDEATHSIG)), .differs(1, UInt64(SIGKILL))),
        SystemCallRule("prctl", .equals(0, UInt32(PR_SET_DUMPABLE)), .differs(1, 0)),
        SystemCallRule("prctl", .equals(0, UInt32(PR_SET_PTRACER))),
        SystemCallRule("prlimit64", .differs(0, 0)),
        SystemCallRule("ioctl", .equals(1, 0x5412)),  // TIOCSTI
        SystemCallRule("ioctl", .equals(1, 0x541C)),  // TIOCLINUX
    ]

    private static func sockets(_ network: SandboxPolicy.Network) -> [SystemCallRule] {
        let pairs = SystemCallRule("socketpair", .differs(0, UInt64(AF_UNIX)))
        return switch network {
        case .none: [pairs, SystemCallRule("socket")]
        case .local: [pairs, SystemCallRule("socket", .differs(0, UInt64(AF_UNIX)))]
        case .any: [pairs]
        }
    }
}
