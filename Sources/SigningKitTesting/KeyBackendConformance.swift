public import SigningKit

/// What every key backend must do, whatever its keys live in. A backend's tests describe a place with a key in it and
/// call `run()`:
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
    /// Something that not every backend can do. One that cannot says why, so that nothing is skipped in silence.
    public enum Capability<Value: Sendable>: Sendable {
        case has(Value)
        case lacks(String)
    }

    /// How to overfill the queue.
    public struct Queue: Sendable {
        /// Settings that leave little room, such as one session and a queue of four.
        let settings: [String: KeyBackendSettings.Value]
        /// Signatures wanted at once, more than there is room for.
        let callers: Int

        public init(settings: [String: KeyBackendSettings.Value], callers: Int = 512) {
            self.settings = settings
            self.callers = callers
        }
    }

    let uri: String
    let settings: [String: KeyBackendSettings.Value]
    let secrets: any SecretSource
    let custody: KeyCustody
    let missingKeys: [String]
    let ambiguousKeys: Capability<[String]>
    let misconfigurations: [Misconfiguration]
    let queue: Capability<Queue>
    let custodyProof: Capability<@Sendable () async throws -> Void>
    let confidential: [String]

    /// - Parameters:
    ///   - uri: of exactly one key that is fit to sign.
    ///   - missingKeys: URIs that are well formed and lead to nothing: `KeyError.notFound`.
    ///   - ambiguousKeys: URIs that more than one key answers to: `KeyError.ambiguous`.
    ///   - custodyProof: shows that the private key cannot be read where it lives.
    ///   - confidential: texts that must show nowhere, such as a PIN or where it is.
    public init(
        uri: String,
        settings: [String: KeyBackendSettings.Value] = [:],
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

    /// All of it.
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

/// A configuration that must be refused.
public struct Misconfiguration: Sendable {
    let uri: String
    let settings: [String: KeyBackendSettings.Value]
    let kind: KeyErrorKind
    let mentions: String

    /// - Parameter mentions: what the error's text must hold, so that somebody can put it right.
    public init(
        _ uri: String, settings: [String: KeyBackendSettings.Value] = [:], _ kind: KeyErrorKind, mentions: String
    ) {
        (self.uri, self.settings, self.kind, self.mentions) = (uri, settings, kind, mentions)
    }
}

/// The cases of `KeyError`, without what they hold.
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
