import SigningKit

extension SignersStatus {
    /// The table of the signers, and what their protection does not cover.
    var text: String {
        let limits = signers.flatMap { signer in
            Set(signer.processes.flatMap(\.protectionLimits)).sorted().map { "\(signer.name): \($0)" }
        }
        let heading = limits.isEmpty ? [] : ["", "What the protection does not cover:"]
        return ([SignerStatus.table(signers).text] + heading + limits).joined(separator: "\n")
    }
}

extension SignerStatus {
    static func table(_ signers: [SignerStatus]) -> TextTable {
        TextTable(
            header: ["SIGNER", "PROCESS", "USER", "AGE", "IN PROGRESS", "LOST", "PROTECTION"],
            rows: signers.flatMap { signer in
                let place = signer.socket.map { "\(signer.name) at \($0)" } ?? signer.name
                guard !signer.processes.isEmpty else {
                    return [[place, "none", "-", "-", "-", "\(signer.losses)", signer.reason ?? "-"]]
                }
                return signer.processes.map { process in
                    [
                        place, "\(process.pid)", "\(process.uid)", "\(process.ageSeconds) s", "\(process.inProgress)",
                        "\(signer.losses)",
                        process.protection.joined(separator: ", ")
                            + (process.missingProtection.isEmpty
                                ? "" : "; missing: " + process.missingProtection.keys.sorted().joined(separator: ", ")),
                    ]
                }
            })
    }
}
