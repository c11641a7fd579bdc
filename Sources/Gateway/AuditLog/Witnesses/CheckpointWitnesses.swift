public import TransparencyLog

/// Witnesses that other teams run. Each cosigns a checkpoint only if the log grew from the last one that it cosigned. So
/// a gateway cannot show two readers two logs.
public protocol CheckpointWitnesses: Sendable {
    var policy: WitnessPolicy { get }

    /// Asks all witnesses of the policy at once.
    ///
    /// - Parameter note: the checkpoint, signed by the log.
    /// - Returns: one answer for each witness of the policy, in its order. It returns soon after enough of them have
    ///   cosigned, and after `timeout` in any case.
    func ask(_ note: SignedNote, timeout: Duration) async -> [WitnessAnswer]
}

public typealias WitnessAnswer = Result<NoteSignature, WitnessRefusal>

/// Why a witness did not cosign. The description is a sentence.
public struct WitnessRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The witness does not answer, or does not cosign for another reason.
        case failure
        /// The witness has cosigned more entries than the checkpoint covers. It is a contradiction unless another process
        /// has just published a checkpoint.
        case ahead
        /// The witness knows another log: the log was changed, or an older copy is in use.
        case contradiction
    }

    public let description: String
    public let kind: Kind

    public init(_ description: String, _ kind: Kind = .failure) {
        (self.description, self.kind) = (description, kind)
    }
}
