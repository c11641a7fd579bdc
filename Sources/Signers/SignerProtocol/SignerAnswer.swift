public import Crypto
public import SigningKit

/// The answer to a `SignerCall`.
public enum SignerAnswer: Codable, Sendable {
    case done
    case started(SignerProtection)
    /// The sources of the secrets that the backend has read.
    case opened(secrets: [String])
    case found(FoundKeyAnswer)
    case report(KeyBackendReport)
    case inspection(KeyInspection)
    case session(ProvisioningLocation, secrets: [String])
    case provisioned(ProvisionedKey)
    case wrappingKey(GeneratedWrappingKey)
    case destroyed(DestroyedKey)
    case count(Int)
    /// The sources of the secrets that were read before the failure.
    case failed(KeyError, secrets: [String])
}

/// How a signer process is protected.
public struct SignerProtection: Codable, Hashable, Sendable {
    public var pid: Int32
    /// The user of the process.
    public var uid: UInt32
    /// The layers in force.
    public var layers: [String]
    /// The layers that are not in force, with the reasons.
    public var missing: [String: String]
    /// Sentences on what the layers do not protect.
    public var limits: [String]

    public init(pid: Int32, uid: UInt32, layers: [String], missing: [String: String], limits: [String] = []) {
        self.limits = limits
        self.pid = pid
        self.uid = uid
        self.layers = layers
        self.missing = missing
    }
}

public struct FoundKeyAnswer: Codable, Sendable {
    @CodedPublicKey public private(set) var publicKey: P256.Signing.PublicKey
    public let custody: KeyCustody
    public let tokenSerial: String?
    /// In milliseconds; nil if a proof counts until a signature fails.
    private let proofInterval: Int64?
    private let proofRetryInterval: Int64

    public init(_ key: any SigningKey) {
        publicKey = key.publicKey
        custody = key.custody
        tokenSerial = key.tokenSerial
        proofInterval = key.proofSchedule.interval.map(\.milliseconds)
        proofRetryInterval = key.proofSchedule.retryInterval.milliseconds
    }

    public var proofSchedule: ProofSchedule {
        ProofSchedule(
            interval: proofInterval.map { .milliseconds($0) }, retryInterval: .milliseconds(proofRetryInterval))
    }
}
