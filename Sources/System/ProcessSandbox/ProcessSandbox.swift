import Glibc

/// Restricts the calling process for the rest of its life.
public struct ProcessSandbox {
    private var policy: SandboxPolicy
    private var report = SandboxReport()

    /// Applies all layers of a policy, each one independently of the others.
    ///
    /// Call it on the only thread of the process. Threads that start later inherit all layers. Landlock, capabilities
    /// and `PR_SET_NO_NEW_PRIVS` restrict only the calling thread, so these layers are missing if there are more
    /// threads. Descriptors and mappings that exist already stay usable.
    ///
    /// The caller decides whether a missing layer ends the process. If `parentDeath` is missing because the parent has
    /// ended, the process should end too.
    public static func apply(_ policy: SandboxPolicy) -> SandboxReport {
        var sandbox = ProcessSandbox(policy: policy)
        sandbox.apply()
        return sandbox.report
    }

    private mutating func apply() {
        report.miss(policy.omittedLayers.sorted { $0.rawValue < $1.rawValue }, "the policy omits it")
        apply(.session, ProcessLayers.startSession)
        apply(.privateFiles) { umask(0o077) }
        apply(.signals, ProcessLayers.resetSignals)
        apply(.noCoreDump) { () throws(LayerFailure) in try ProcessLayers.limit(.core, to: 0) }
        let descriptors = policy.descriptorLimit
        apply(.descriptorLimit) { () throws(LayerFailure) in try ProcessLayers.limit(.descriptors, to: descriptors) }
        apply(.oomScore, ProcessLayers.raiseOOMScore)
        applyThreadLayers()
        if let bytes = policy.memoryLimit {
            apply(.memoryLimit) { () throws(LayerFailure) in try ProcessLayers.limit(.data, to: bytes) }
        }
        // After the OOM score: the files in /proc of a process that is not dumpable belong to root (proc(5)).
        apply(.notDumpable, ProcessLayers.forbidDumps)
        // After the capabilities: a change of credentials can remove the signal (prctl(2)).
        if let parent = policy.parent {
            apply(.parentDeath) { () throws(LayerFailure) in try ProcessLayers.followParent(parent) }
        }
        // At last, because it refuses system calls of the other layers.
        let network = policy.network
        apply(.systemCalls) { () throws(LayerFailure) in try SystemCallFilter.load(network) }
    }

    /// The layers that restrict only the calling thread.
    private mutating func applyThreadLayers() {
        do {
            try ProcessLayers.requireOneThread()
            apply(.noNewPrivileges, ProcessLayers.forbidNewPrivileges)
            hideFiles()
            apply(.capabilities, ProcessLayers.limitCapabilities)
            LandlockLayers(policy).apply(&report)
        } catch {
            let mounts: [SandboxLayer] = MountLayer(policy).isWanted ? [.mounts] : []
            let layers = Set([.noNewPrivileges, .capabilities] + mounts + LandlockLayers(policy).layers)
                .subtracting(policy.omittedLayers)
            report.miss(layers.sorted { $0.rawValue < $1.rawValue }, error.reason)
        }
    }

    /// Before the capabilities, of which it needs one.
    private mutating func hideFiles() {
        let layer = MountLayer(policy)
        guard layer.isWanted else { return }
        var left = policy.hiddenPaths
        var limits: [String] = []
        apply(.mounts) { () throws(LayerFailure) in (left, limits) = try layer.apply() }
        policy.hiddenPaths = left
        report.limits += limits
    }

    private mutating func apply(_ layer: SandboxLayer, _ body: () throws(LayerFailure) -> Void) {
        guard !policy.omittedLayers.contains(layer) else { return }
        do {
            try body()
            report.applied.append(layer)
        } catch {
            report.miss([layer], error.reason)
        }
    }
}
