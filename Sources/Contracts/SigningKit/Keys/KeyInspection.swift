/// A backend whose keys can be inspected, to report how they are protected.
public protocol KeyInspecting: KeyBackend {
    /// All visible properties of a key, even if `key` refuses it as unfit. It also tries to extract the private key, if
    /// the backend has a way, and wipes any result.
    ///
    /// - Parameter provenance: the recorded origin of the key, on which some expected values depend.
    /// - Throws: `unavailable` and `closed`, like `key`.
    func inspect(_ selector: KeySelector, provenance: KeyProvenance) async throws(KeyError) -> KeyInspection

    /// The checks of `KeyInspection.checks` for a key that could not be inspected: none has passed.
    static func checks(provenance: KeyProvenance, uninspected error: KeyError) -> [ComplianceCheck]
}

extension KeyInspecting {
    public func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection {
        try await inspect(selector, provenance: .unknown)
    }
}

/// Where a key was made.
public enum KeyProvenance: String, Codable, Sendable {
    /// By the holder of the key, which never revealed it.
    case generated
    /// Elsewhere: a copy of the key may exist.
    case imported
    case unknown
}

/// The visible properties of a key and of its location at one time, and the backend's verdicts on them. It contains no
/// secret.
public struct KeyInspection: Codable, Sendable, Equatable {
    /// What keeps the private key from being copied, as the location describes itself.
    public struct Protection: Codable, Sendable, Equatable {
        public enum Kind: String, Codable, Sendable {
            /// A cryptographic module in hardware.
            case hardware
            case software
            case unknown
        }

        public var kind: Kind
        /// Such as `a token in hardware (Yubico, YubiHSM)`.
        public var text: String
        /// A sentence on how reliable the statement is.
        public var detail: String?

        public init(_ kind: Kind, _ text: String, detail: String? = nil) {
            self.kind = kind
            self.text = text
            self.detail = detail
        }
    }

    /// A name and a value that is reported without a verdict.
    public struct Fact: Codable, Sendable, Equatable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var custody: KeyCustody
    public var protection: Protection
    /// The number of keys that match the selector. Without exactly one, the checks of the key are unavailable.
    public var matches: Int
    /// Nil if the public key is not visible.
    public var fingerprint: PublicKeyFingerprint?
    /// About the location, in display order.
    public var facts: [Fact]
    /// Evidence for the register of keys, by name.
    public var evidence: [String: String]
    /// In display order.
    public var checks: [ComplianceCheck]

    public init(
        custody: KeyCustody, protection: Protection, matches: Int = 1, fingerprint: PublicKeyFingerprint? = nil,
        facts: [Fact] = [], evidence: [String: String] = [:], checks: [ComplianceCheck] = []
    ) {
        self.custody = custody
        self.protection = protection
        self.matches = matches
        self.fingerprint = fingerprint
        self.facts = facts
        self.evidence = evidence
        self.checks = checks
    }
}
