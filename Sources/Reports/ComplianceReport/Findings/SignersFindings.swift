/// What the running gateway says about its signers.
public enum SignersFindings: Sendable {
    /// - Parameters:
    ///   - processes: the processes of all signers.
    ///   - inProcess: the names of the signers in the gateway's process.
    ///   - withoutRecord: signatures since the start of the gateway that have no entry in the audit log.
    case running(processes: [SignerProcessFindings], inProcess: [String], withoutRecord: Int)
    /// No gateway runs, or it could not be asked. The sentence says why.
    case unknown(String)
}

/// `name` is that of the signer. `missing` has the reasons by layer of protection, and `limits` sentences on what the
/// layers in force do not protect.
public typealias SignerProcessFindings = (
    name: String, process: Int32, layers: [String], missing: [String: String], limits: [String]
)
