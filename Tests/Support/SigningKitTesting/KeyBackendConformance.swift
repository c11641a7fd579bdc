public import SigningKit

/// The contract of every key backend, independent of where it stores keys. A backend's tests describe a key and call
/// `run()`:
///
/// ```swift
/// try await KeyBackendConformance<P8Backend>(
///     uri: "file:\(directory)/AuthKey.p8", secrets: secrets, custody: .process,
///     missingKeys: ["file:\(directory)/none.p8"],
///     ambiguousKeys: .lacks("a file holds one key"),
///     misconfigurations: [Misconfiguration("file:relative.p8", .invalidURI, mentions: "absolute")],
///     queue: .lacks("it signs on the caller's thread"),
///     custodyProof: .lacks("the process holds the key"),
///     confidential: [passphrase]
/// ).run()
/// ```
public struct KeyBackendConformance<Backend: KeyBackend>: Sendable {
    /// A capability that some backends lack. Such a backend states the reason, so that no check is skipped silently.
    public enum Capability<Value: Sendable>: Sendable {
        case has(Value)
        case lacks(String)
    }

    /// How to exceed the queue's limit.
    public struct Queue: Sendable {
        /// Settings that allow few signatures, such as one session and a queue of four.
        let settings: [String: PluginSettings.Value]
        /// The number of simultaneous signatures, which exceeds the limit.
        let callers: Int

        public init(settings: [String: PluginSettings.Value], callers: Int = 512) {
            self.settings = settings
            self.callers = callers
        }
    }

    let uri: String
    let settings: [String: PluginSettings.Value]
    let secrets: any SecretSource
    let custody: KeyCustody
    let missingKeys: [String]
    let ambiguousKeys: Capability<[String]>
    let misconfigurations: [Misconfiguration]
    let queue: Capability<Queue>
    let custodyProof: Capability<@Sendable () async throws -> Void>
    let confidential: [String]

    /// - Parameters:
    ///   - uri: the URI of exactly one key that can sign.
    ///   - missingKeys: well-formed URIs that match no key: `KeyError.notFound`.
    ///   - ambiguousKeys: URIs that match more than one key: `KeyError.ambiguous`.
    ///   - custodyProof: proves that the private key cannot be read from its token.
    ///   - confidential: texts that no output may show, such as a PIN or the path of its file.
    public init(
        uri: String,
        settings: [String: PluginSettings.Value] = [:],
        secrets: any SecretSource,
        custody: KeyCustody,
        missingKeys: [String],
        ambiguousKeys: Capability<[String]>,
        misconfigurations: [Misconfiguration],
        queue: Capability<Queue>,
        custodyProof: Capability<@Sendable () async throws -> Void>,
        confidential: [String]
    ) {
        (self.uri, self.settings, self.secrets, self.custody) = (uri, settings, secrets, custody)
        (self.missingKeys, self.ambiguousKeys, self.misconfigurations) = (missingKeys, ambiguousKeys, misconfigurations)
        (self.queue, self.custodyProof, self.confidential) = (queue, custodyProof, confidential)
    }

    /// Runs all checks.
    public func run() async throws {
        try await findsKeys()
        try await refusesMisconfigurations()
        try await signsManyDigests()
        try await signsExtremeDigests()
        try await signsForManyAtOnce()
        try await saysBusy()
        try await letsGoOfCancelled()
        try await staysClosed()
        try await keepsSecrets()
        try await isHealthy()
        try await keepsCustody()
    }
}

/// A configuration that a backend must refuse.
public struct Misconfiguration: Sendable {
    let uri: String
    let settings: [String: PluginSettings.Value]
    let kind: KeyErrorKind
    let mentions: String

    /// - Parameter mentions: words in the error's text that help the operator to correct the configuration.
    public init(
        _ uri: String, settings: [String: PluginSettings.Value] = [:], _ kind: KeyErrorKind, mentions: String
    ) {
        (self.uri, self.settings, self.kind, self.mentions) = (uri, settings, kind, mentions)
    }
}

/// The cases of `KeyError`, without their associated values.
public enum KeyErrorKind: String, Sendable {
    case invalidURI, invalidSetting, secretUnavailable, loginRefused, loginBlocked, notFound, ambiguous, unfit, busy
    case cancelled, closed, unavailable, failed
}

extension KeyError {
    public var kind: KeyErrorKind {
        switch self {
        case .invalidURI: .invalidURI
        case .invalidSetting: .invalidSetting
        case .secretUnavailable: .secretUnavailable
        case .loginRefused: .loginRefused
        case .loginBlocked: .loginBlocked
        case .notFound: .notFound
        case .ambiguous: .ambiguous
        case .unfit: .unfit
        case .busy: .busy
        case .cancelled: .cancelled
        case .closed: .closed
        case .unavailable: .unavailable
        case .failed: .failed
        }
    }
}
