import SigningKit

/// A key for offers should sign nothing else, because one kind of signature could be presented as the other.
enum CosignerWarning {
    static func look(_ configuration: GatewayConfiguration, _ findings: Findings) {
        guard let cosigner = configuration.audit?.checkpoints.cosigner else { return }
        let same = configuration.accounts.flatMap(\.keys).first { key in
            key.address.locator == cosigner.address.locator
                && key.address.selector.uri == cosigner.address.selector.uri
        }
        guard let same else { return }
        findings.warn(
            "is also the location of a key for offers (\(same.origin)); give another key", at: cosigner.origin)
    }
}
