/// The layers that one Landlock ruleset enforces.
struct LandlockLayers {
    /// Those that the policy wants.
    let layers: [SandboxLayer]
    private let policy: SandboxPolicy

    init(_ policy: SandboxPolicy) {
        self.policy = policy
        let wanted: [SandboxLayer] = [.files, .signalScope] + (policy.network == .any ? [] : [.tcp, .socketScope])
        layers = wanted.filter { !policy.omittedLayers.contains($0) }
    }

    /// Adds the result to the report.
    func apply(_ report: inout SandboxReport) {
        do {
            let version = try LandlockRuleset.version()
            let supported = layers.filter { version >= Self.firstVersion(of: $0) }
            if !supported.isEmpty { report.limits += try restrict(supported, version) }
            report.applied += supported
            for layer in layers where !supported.contains(layer) {
                let needed = Self.firstVersion(of: layer)
                report.miss([layer], "Landlock has ABI \(version) on this kernel; the layer needs ABI \(needed)")
            }
        } catch {
            report.miss(layers, error.reason)
        }
    }

    /// - Returns: the limits of the rules.
    private func restrict(_ layers: [SandboxLayer], _ version: Int32) throws(LayerFailure) -> [String] {
        let ruleset = try LandlockRuleset(
            files: layers.contains(.files) ? files(version) : [],
            tcp: layers.contains(.tcp) ? LandlockRuleset.allTCP : 0,
            scopes: (layers.contains(.socketScope) ? LandlockRuleset.socketScope : 0)
                | (layers.contains(.signalScope) ? LandlockRuleset.signalScope : 0))
        var limits: [String] = []
        if layers.contains(.files) {
            var rules = FileRules(policy)
            rules.add(to: ruleset)
            limits = rules.limits
            if version < 3 { limits.append("Landlock ABI \(version) does not restrict truncate(2).") }
        }
        try ruleset.restrict()
        return limits
    }

    /// Connections to Unix sockets are restricted only without a list of paths. With a list, a kernel with ABI 9 would
    /// refuse the sockets of token daemons that an older kernel allows.
    private func files(_ version: Int32) -> LandlockAccess {
        var files = LandlockAccess.all(version: version)
        if version >= 9, policy.paths.isEmpty { files.insert(.resolveUnix) }
        return files
    }

    /// The ABI versions of landlock(7).
    private static func firstVersion(of layer: SandboxLayer) -> Int32 {
        switch layer {
        case .tcp: 4
        case .signalScope, .socketScope: 6
        default: 1
        }
    }
}
