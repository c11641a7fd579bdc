/// What can be seen of a key and of the place where it lives, as of one moment. No secret is in it.
public struct KeyInspection: Sendable, Equatable {
    /// One property, by its name in the standard, such as `CKA_EXTRACTABLE`.
    public struct Attribute: Sendable, Equatable {
        public var name: String
        /// `TRUE`, `FALSE`, a name of the standard, a text or hexadecimal digits; nil where the place does not say.
        public var value: String?
        /// Why there is no value, such as `CKR_ATTRIBUTE_TYPE_INVALID`.
        public var answer: String?

        public init(_ name: String, _ value: String?, answer: String? = nil) {
            self.name = name
            self.value = value
            self.answer = answer
        }
    }

    /// How many private keys of the token answer to what names this one.
    public struct Objects: Sendable, Equatable {
        /// To the whole URI.
        public var uri: Int
        /// To its `CKA_ID`; nil where it has none.
        public var id: Int?
        /// To its `CKA_LABEL`; nil where it has none.
        public var label: Int?

        public init(uri: Int, id: Int?, label: Int?) {
            self.uri = uri
            self.id = id
            self.label = label
        }
    }

    /// What came of an attempt to take the private key away.
    public enum Probe: Sendable, Equatable {
        /// As it must be.
        case refused(answer: String)
        /// The place gave it out. It was wiped.
        case given
        /// It could not be tried; why.
        case untried(String)
    }

    public struct Probes: Sendable, Equatable {
        /// `C_GetAttributeValue` of `CKA_VALUE`.
        public var value: Probe
        /// `C_WrapKey` under an AES key that was made for it.
        public var wrap: Probe

        public init(value: Probe, wrap: Probe) {
            self.value = value
            self.wrap = wrap
        }
    }

    public var custody: KeyCustody
    /// Nil where the place does not show the public key.
    public var fingerprint: PublicKeyFingerprint?
    /// In the order in which they are to be shown; empty for a key that is not on a token, or of which there are several.
    public var attributes: [Attribute]
    /// Nil for a key that is not on a token.
    public var objects: Objects?
    public var probes: Probes?
    public var token: InspectedToken?
    /// Nil for a key that is not in a file.
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

    /// Nil where it is not known, for whatever reason.
    public func value(of name: String) -> String? { attributes.first { $0.name == name }?.value }
}

/// A token, its slot and the library behind which it is, by what they say of themselves.
public struct InspectedToken: Sendable, Equatable {
    public var label: String
    public var manufacturer: String
    public var model: String
    public var serial: String
    /// Such as `2.6`.
    public var firmware: String
    public var hardware: String
    /// Names of the standard, such as `CKF_USER_PIN_COUNT_LOW`, as they were before this process logged in: a login sets
    /// some of them back.
    public var flags: [String]
    public var slotFlags: [String]
    /// Names of the standard, or numbers.
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

/// The library of a token (`CK_INFO`).
public struct InspectedModule: Sendable, Equatable {
    /// Of its file, with symbolic links resolved.
    public var path: String
    /// SHA-256 of the file as it is now, in hexadecimal digits; nil where it cannot be read.
    public var digest: String?
    public var manufacturer: String
    public var description: String
    public var version: String
    /// Of the interface, such as `2.40`.
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

/// A key file, and where its key is while the process runs.
public struct InspectedFile: Sendable, Equatable {
    /// Of the memory that holds the key.
    public enum Memory: String, Sendable {
        /// On libcrypto's secure heap, never swapped, left out of dumps.
        case locked
        /// On the secure heap, which could not be locked.
        case unlocked
        /// Like any other memory of the process.
        case ordinary
    }

    public var path: String
    /// Octal, such as `600`; nil where the file is gone or cannot be looked at.
    public var mode: String?
    /// User and group by number, such as `0:0`.
    public var owner: String?
    public var memory: Memory

    public init(path: String, mode: String?, owner: String?, memory: Memory) {
        self.path = path
        self.mode = mode
        self.owner = owner
        self.memory = memory
    }
}
