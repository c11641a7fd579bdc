/// The visible properties of a key and its token or file at one time. It contains no secret.
public struct KeyInspection: Sendable, Equatable {
    /// A property by its standard name, such as `CKA_EXTRACTABLE`.
    public struct Attribute: Sendable, Equatable {
        public var name: String
        /// `TRUE`, `FALSE`, a standard name, a text or hexadecimal digits; nil if the token does not reveal it.
        public var value: String?
        /// The return value that explains a missing value, such as `CKR_ATTRIBUTE_TYPE_INVALID`.
        public var answer: String?

        public init(_ name: String, _ value: String?, answer: String? = nil) {
            self.name = name
            self.value = value
            self.answer = answer
        }
    }

    /// How many private keys of the token match the names of this key.
    public struct Objects: Sendable, Equatable {
        /// Matches of the whole URI.
        public var uri: Int
        /// Matches of its `CKA_ID`; nil if it has none.
        public var id: Int?
        /// Matches of its `CKA_LABEL`; nil if it has none.
        public var label: Int?

        public init(uri: Int, id: Int?, label: Int?) {
            self.uri = uri
            self.id = id
            self.label = label
        }
    }

    /// The result of an attempt to extract the private key.
    public enum Probe: Sendable, Equatable {
        /// The token refused, as it must.
        case refused(answer: String)
        /// The token revealed the key, which was then wiped.
        case given
        /// The attempt was not possible, for the reason in the text.
        case untried(String)
    }

    public struct Probes: Sendable, Equatable {
        /// `C_GetAttributeValue` of `CKA_VALUE`.
        public var value: Probe
        /// `C_WrapKey` under an AES key made for this probe.
        public var wrap: Probe

        public init(value: Probe, wrap: Probe) {
            self.value = value
            self.wrap = wrap
        }
    }

    public var custody: KeyCustody
    /// Nil if the public key is not visible.
    public var fingerprint: PublicKeyFingerprint?
    /// In display order; empty for a key outside a token, or if not exactly one key matches.
    public var attributes: [Attribute]
    /// Nil for a key outside a token.
    public var objects: Objects?
    public var probes: Probes?
    public var token: InspectedToken?
    /// Nil for a key outside a file.
    public var file: InspectedFile?

    public init(
        custody: KeyCustody, fingerprint: PublicKeyFingerprint? = nil, attributes: [Attribute] = [],
        objects: Objects? = nil, probes: Probes? = nil, token: InspectedToken? = nil, file: InspectedFile? = nil
    ) {
        self.custody = custody
        self.fingerprint = fingerprint
        self.attributes = attributes
        self.objects = objects
        self.probes = probes
        self.token = token
        self.file = file
    }

    /// Nil if the value is not known.
    public func value(of name: String) -> String? { attributes.first { $0.name == name }?.value }
}

/// A token, its slot and its module, as they describe themselves.
public struct InspectedToken: Sendable, Equatable {
    public var label: String
    public var manufacturer: String
    public var model: String
    public var serial: String
    public var firmware: String
    public var hardware: String
    /// Standard names, such as `CKF_USER_PIN_COUNT_LOW`, read before this process logged in: a login clears some.
    public var flags: [String]
    public var slotFlags: [String]
    /// Standard names, or numbers.
    public var mechanisms: [String]
    public var module: InspectedModule

    public init(
        label: String, manufacturer: String, model: String, serial: String, firmware: String, hardware: String,
        flags: [String], slotFlags: [String], mechanisms: [String], module: InspectedModule
    ) {
        self.label = label
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.firmware = firmware
        self.hardware = hardware
        self.flags = flags
        self.slotFlags = slotFlags
        self.mechanisms = mechanisms
        self.module = module
    }
}

/// The module of a token (`CK_INFO`).
public struct InspectedModule: Sendable, Equatable {
    /// The path of the library, with symbolic links resolved.
    public var path: String
    /// SHA-256 of the file now, in hexadecimal digits; nil if it cannot be read.
    public var digest: String?
    public var manufacturer: String
    public var description: String
    public var version: String
    /// The version of the Cryptoki interface, such as `2.40`.
    public var cryptoki: String

    public init(
        path: String, digest: String?, manufacturer: String, description: String, version: String, cryptoki: String
    ) {
        self.path = path
        self.digest = digest
        self.manufacturer = manufacturer
        self.description = description
        self.version = version
        self.cryptoki = cryptoki
    }
}

/// A key file, and the memory that holds its key at run time.
public struct InspectedFile: Sendable, Equatable {
    public enum Memory: String, Sendable {
        /// libcrypto's secure heap: locked, never swapped, excluded from core dumps.
        case locked
        /// The secure heap, but locking it failed.
        case unlocked
        /// Ordinary process memory.
        case ordinary
    }

    public var path: String
    /// Octal, such as `600`; nil if the file is missing or inaccessible.
    public var mode: String?
    /// User and group ID, such as `0:0`.
    public var owner: String?
    public var memory: Memory

    public init(path: String, mode: String?, owner: String?, memory: Memory) {
        self.path = path
        self.mode = mode
        self.owner = owner
        self.memory = memory
    }
}
