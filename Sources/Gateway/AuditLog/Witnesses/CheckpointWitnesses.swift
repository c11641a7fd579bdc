public import TransparencyLog

/// Witnesses that others run. Each cosigns a checkpoint only if the log grew from the last one that it cosigned. So
/// nobody can be shown another log than everybody else.
public protocol CheckpointWitnesses: Sendable {
    var policy: WitnessPolicy { get }

    /// Asks all witnesses of the policy at once.
    ///
    /// - Parameter note: the checkpoint, signed by the log.
    /// - Returns: one answer for each witness of the policy, in its order.
    func ask(_ note: SignedNote, timeout: Duration) async -> [WitnessAnswer]
}

public typealias WitnessAnswer = Result<NoteSignature, WitnessRefusal>

/// Why a witness did not cosign. The description is a sentence.
public struct WitnessRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether the witness knows another log than this one: the log was changed or an older copy is in use.
    public let isContradiction: Bool

    public init(_ description: String, isContradiction: Bool = false) {
        (self.description, self.isContradiction) = (description, isContradiction)
    }
}
