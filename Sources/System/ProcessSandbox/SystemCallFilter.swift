import CProcessSandbox
import Glibc

/// A seccomp filter (seccomp(2)) that refuses calls with `EPERM` and allows all others.
enum SystemCallFilter {
    /// Restricts all threads of this process. Calls of other architectures (i386 and x32 on x86_64) are refused too.
    static func load(_ network: SandboxPolicy.Network) throws(LayerFailure) {
        guard let filter = seccomp_init(SCMP_ACT_ALLOW) else { throw LayerFailure("seccomp_init", errno: ENOMEM) }
        defer { seccomp_release(filter) }
        try set(filter, SCMP_FLTATR_ACT_BADARCH, refusal(EPERM))
        try restrictAllThreads(filter)
        // Returns the kernel's errno instead of ECANCELED.
        try set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)
        // A binary tree instead of a chain of comparisons.
        try set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)
        for rule in SystemCallRules.all(network, process: UInt64(getpid())) { try add(rule, EPERM, to: filter) }
        // glibc then calls clone(2) instead.
        try add(SystemCallRule("clone3"), ENOSYS, to: filter)
        try LayerFailure.check("seccomp_load", errno: -seccomp_load(filter))
    }

    /// libseccomp sets the attribute only if it can call seccomp(2), which a filter of the service may refuse. Then it
    /// loads the filter with prctl(2), for the calling thread.
    private static func restrictAllThreads(_ filter: UnsafeMutableRawPointer) throws(LayerFailure) {
        do {
            try set(filter, SCMP_FLTATR_CTL_TSYNC, 1)
        } catch {
            try ProcessLayers.requireOneThread()
        }
    }

    private static func add(
        _ rule: SystemCallRule, _ error: Int32, to filter: UnsafeMutableRawPointer
    ) throws(LayerFailure) {
        // Negative if the architecture has no such call, such as fork on aarch64, or if libseccomp does not know it.
        let number = seccomp_syscall_resolve_name(rule.name)
        guard number >= 0 else { return }
        let comparisons = rule.conditions.map(\.comparison)
        let result = seccomp_rule_add_array(
            filter, refusal(error), number, UInt32(comparisons.count), comparisons)
        try LayerFailure.check("seccomp_rule_add(\(rule.name))", errno: -result)
    }

    private static func set(
        _ filter: UnsafeMutableRawPointer, _ attribute: scmp_filter_attr, _ value: UInt32
    ) throws(LayerFailure) {
        try LayerFailure.check("seccomp_attr_set", errno: -seccomp_attr_set(filter, attribute, value))
    }

    /// `SCMP_ACT_ERRNO`, a macro with a parameter.
    private static func refusal(_ error: Int32) -> UInt32 { 0x0005_0000 | UInt32(error) & 0xFFFF }
}
