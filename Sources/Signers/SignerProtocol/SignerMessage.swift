public import SigningKit
import StrictJSON

/// A message with the number that connects it to its answer.
public struct Numbered<Message: Codable & Sendable>: Codable, Sendable {
    public let id: UInt64
    public let message: Message

    public init(_ id: UInt64, _ message: Message) {
        self.id = id
        self.message = message
    }
}

/// An order of the gateway. Backends, keys and sessions have numbers, which the gateway chooses.
public enum SignerCall: Codable, Sendable {
    /// The first call. The signer protects itself before it loads any code of a location.
    case start(SignerStart)
    case open(OpenCall)
    case findKey(KeyCall)
    case report(backend: UInt32)
    case inspect(InspectCall)
    case endFailurePause(key: UInt32)
    /// Waits for signatures in progress.
    case close(backend: UInt32)
    case openSession(OpenCall)
    case take(TakeCall)
    case generate(ProvisionCall)
    case makeWrappingKey(session: UInt32, selector: String)
    case destroy(DestroyCall)
    case closeSession(session: UInt32)
    /// The number of signatures that this process has made.
    case count
}

public struct SignerStart: Codable, Sendable {
    /// The version of the protocol. Both sides must have the same one.
    public static let protocolVersion = 3

    public var version = SignerStart.protocolVersion
    public var network: SignerSettings.Network
    public var paths: [String]
    public var hiddenPaths: [String]
    /// In bytes.
    public var memory: Int

    public init(_ settings: SignerSettings) {
        network = settings.network
        paths = settings.sandbox.paths
        hiddenPaths = settings.hiddenPaths
        memory = settings.sandbox.memory << 20
    }
}

public struct OpenCall: Codable, Sendable {
    /// The number of the backend or of the session.
    public let number: UInt32
    public let scheme: String
    public let locator: String
    /// By name.
    public let settings: [String: PluginSettings.Value]
    /// When a person ordered this opening (`MonotonicTime`); nil for a repetition after a loss.
    public let orderedAt: UInt64?

    public init(_ number: UInt32, scheme: String, _ locator: KeyLocator, _ settings: PluginSettings, orderedAt: UInt64?)
    {
        self.number = number
        self.scheme = scheme
        self.locator = locator.uri.text
        self.settings = settings.byName
        self.orderedAt = orderedAt
    }
}

public struct KeyCall: Codable, Sendable {
    public let backend: UInt32
    /// The number that the key gets.
    public let key: UInt32
    public let selector: String
    /// The configured public key: X9.63, 65 bytes.
    public let publicKey: [UInt8]?

    public init(backend: UInt32, key: UInt32, _ selector: KeySelector) {
        self.backend = backend
        self.key = key
        self.selector = selector.uri.text
        publicKey = selector.publicKey
    }

    public func keySelector() throws(KeyError) -> KeySelector {
        KeySelector(try KeyURI(selector), publicKey: publicKey)
    }
}

public struct InspectCall: Codable, Sendable {
    public let key: KeyCall
    public let provenance: KeyProvenance

    public init(_ key: KeyCall, _ provenance: KeyProvenance) {
        self.key = key
        self.provenance = provenance
    }
}

public struct TakeCall: Codable, Sendable {
    /// The key to import.
    public enum Source: Codable, Sendable {
        /// A key file, which the signer reads: no private key passes the connection.
        case file(String)
        case package(WrappedKey)
    }

    public let provision: ProvisionCall
    public let source: Source
    public let allowsClear: Bool

    public init(_ provision: ProvisionCall, _ source: Source, allowsClear: Bool) {
        self.provision = provision
        self.source = source
        self.allowsClear = allowsClear
    }
}

public struct ProvisionCall: Codable, Sendable {
    public let session: UInt32
    public let selector: String
    public let isResumed: Bool

    public init(session: UInt32, _ selector: KeySelector, isResumed: Bool) {
        self.session = session
        self.selector = selector.uri.text
        self.isResumed = isResumed
    }
}

public struct DestroyCall: Codable, Sendable {
    public let provision: ProvisionCall
    /// The expected key; nil if unknown.
    public let fingerprint: PublicKeyFingerprint?

    public init(_ provision: ProvisionCall, expecting fingerprint: PublicKeyFingerprint?) {
        self.provision = provision
        self.fingerprint = fingerprint
    }
}

/// An event of a signer that answers no call.
public enum SignerNotice: Codable, Sendable {
    case event(backend: UInt32, KeyBackendEvent)
    case log(SignerLogLine)
    /// A sentence of a provisioning session on its progress.
    case progress(session: UInt32, String)
    case metrics([MetricRecord])
}

public struct SignerLogLine: Codable, Sendable {
    /// A level of swift-log, such as `warning`.
    public let level: String
    public let label: String
    public let message: String
    public let metadata: [String: String]

    public init(level: String, label: String, message: String, metadata: [String: String]) {
        self.level = level
        self.label = label
        self.message = message
        self.metadata = metadata
    }
}

/// Values of a metric since the last record.
public struct MetricRecord: Codable, Sendable {
    public enum Kind: String, Codable, Sendable {
        case counter
        /// In nanoseconds.
        case timer
    }

    public let kind: Kind
    public let label: String
    /// Name, value, name, value, …
    public let dimensions: [String]
    public var values: [Int64]

    public init(_ kind: Kind, label: String, dimensions: [String], values: [Int64] = []) {
        self.kind = kind
        self.label = label
        self.dimensions = dimensions
        self.values = values
    }
}

/// A question of the signer, whose thread waits for the reply.
public enum SignerQuestion: Codable, Sendable {
    case loginRecord(LoginAttempt)
    case noteLogin(LoginRecord.State, LoginAttempt)
    /// `milliseconds`: nil to report a refusal.
    case beginTurn(token: String, milliseconds: Int?)
    /// `id`: of the turn.
    case endTurn(id: String, refused: [UInt8]?)
}

public enum SignerReply: Codable, Sendable {
    case done
    case loginRecord(LoginRecord?)
    case turn(LoginTurn?)
    case failed(KeyError)
}

extension SignerFrame {
    public static func encoding(_ message: some Encodable, as kind: Kind) -> SignerFrame {
        SignerFrame(kind, JSONText.encode(message))
    }

    public func decode<Message: Decodable>(_ type: Message.Type = Message.self) throws(SignerProtocolError) -> Message {
        do { return try JSONDocument(parsing: payload).root.decode() } catch {
            throw SignerProtocolError("sent a message that is not as the protocol requires (\(kind)): \(error)")
        }
    }
}
