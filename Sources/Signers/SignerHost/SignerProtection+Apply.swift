import Glibc
import ProcessSandbox
import SignerProtocol
import SigningKit

extension SignerProtection {
    /// Protects this process, for as long as it runs. It has one thread.
    ///
    /// - Parameter parent: the process that started this one.
    init(applying start: SignerStart, parent: Int32) {
        let network =
            switch start.network {
            case .none: SandboxPolicy.Network.none
            case .local: SandboxPolicy.Network.local
            case .any: SandboxPolicy.Network.any
            }
        let report = ProcessSandbox.apply(
            SandboxPolicy(
                network: network, paths: start.paths, hiddenPaths: start.hiddenPaths,
                memoryLimit: UInt64(clamping: start.memory), parent: parent))
        // The process would outlive its gateway.
        if report.missing.contains(where: { $0.layer == .parentDeath }) { _exit(1) }
        self.init(
            pid: getpid(), uid: geteuid(), layers: report.applied.map(\.rawValue),
            missing: Dictionary(report.missing.map { ($0.layer.rawValue, $0.reason) }) { $1 }, limits: report.limits)
    }
}
