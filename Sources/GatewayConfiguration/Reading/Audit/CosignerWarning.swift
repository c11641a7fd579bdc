import SigningKit

/// A key that signs offers should sign nothing else: what it has signed could be shown as the other.
enum CosignerWarning {
    /// What can be seen only when the accounts' keys are known, too.
    static func look(_ configuration: GatewayConfiguration, _ findings: Findings) {
        guard let cosigner = configuration.audit?.checkpoints.cosigner else { return }
        let same = configuration.accounts.flatMap(\.keys).first { key in
            key.address.locator == cosigner.address.locator
                && key.address.selector.uri == cosigner.address.selector.uri
        }
        guard let same else { return }
        findings.warn(
            "is where a key for offers lives, too (\(same.origin)); give a key of its own", at: cosigner.origin)
    }
}
