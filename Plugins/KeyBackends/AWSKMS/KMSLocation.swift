import Crypto
import Encodings
import SigningKit
import Synchronization

/// A region of AWS KMS, as this process uses it: the client, the limits and the last known health.
final class KMSLocation: Sendable {
    let settings: KMSSettings
    let client: KMSClient
    let gate: CallGate
    /// Why the last signature failed; nil after a signature.
    private let failure = Mutex<KeyError?>(nil)
    private let openAttempts = Mutex<[KeySelector: (error: KeyError, time: ContinuousClock.Instant)]>([:])

    /// Keys whose failed openings are remembered.
    private static let rememberedAttempts = 256

    /// - Parameter variables: the environment of the process, or another one for tests.
    init(
        _ locator: KeyLocator, _ settings: KMSSettings, _ variables: EnvironmentVariables
    ) throws(KeyError) {
        let address = try KMSAddress(locator.uri)
        let region = address.region
        let endpoint =
            if let endpoint = address.endpoint { endpoint } else {
                try ServiceEndpoint.address("KMS", "kms", region, variables)
            }
        let transport = HTTPTransport(connections: settings.connections, timeout: settings.timeout)
        let chain = CredentialChain(region: region, variables: variables, transport: transport)
        client = KMSClient(
            region: region, endpoint: endpoint,
            credentials: CredentialCache { deadline throws(KeyError) in try await chain.load(by: deadline) },
            transport: transport, attempts: settings.attempts)
        self.settings = settings
        gate = CallGate(limit: settings.connections + settings.queueLimit)
    }

    /// Whether the endpoint is that of AWS for the region.
    var isAWS: Bool { client.endpoint == client.region.endpoint(of: "kms") }

    func note(_ failure: KeyError?) { self.failure.withLock { $0 = failure } }

    var health: KeyBackendHealth {
        if gate.isClosed { return .unavailable("The key's backend has been closed.") }
        if let failure = failure.withLock({ $0 }) { return .unavailable("\(failure)") }
        if let complaint = client.credentials.complaint {
            return .degraded("The AWS credentials could not be renewed: \(complaint)")
        }
        return .ready
    }

    // MARK: Keys

    /// The key's metadata.
    ///
    /// - Throws: `notFound`, among others.
    func describe(_ name: KMSKeyName, by deadline: ContinuousClock.Instant) async throws(KeyError) -> KMSKeyMetadata {
        try requireOpen()
        let metadata: KMSKeyMetadata
        do throws(KMSFailure) {
            metadata = try await client.call(DescribeKey(keyID: name.text), by: deadline).metadata
        } catch {
            throw error.keyError("describe the key \(name.text)", name.text)
        }
        try check(metadata, is: name)
        return metadata
    }

    /// Throws unless the answer is about the key of the call, in this region.
    func check(_ metadata: KMSKeyMetadata, is name: KMSKeyName) throws(KeyError) {
        guard let arn = try? KMSARN(metadata.arn), arn.region == client.region, arn.name.keyID == metadata.keyID,
            name.keyID == nil || name.keyID == metadata.keyID, name.account == nil || name.account == arn.account
        else { throw .failed("AWS KMS described another key than \(name.text).") }
    }

    func publicKey(
        _ metadata: KMSKeyMetadata, _ name: KMSKeyName, by deadline: ContinuousClock.Instant
    ) async throws(KeyError) -> P256.Signing.PublicKey {
        let answer: GetPublicKey.Answer
        do throws(KMSFailure) {
            answer = try await client.call(GetPublicKey(keyID: metadata.arn), by: deadline)
        } catch {
            throw error.keyError("give the public key of \(name.text)", name.text)
        }
        guard answer.keyID == metadata.arn || answer.keyID == metadata.keyID else {
            throw .failed("AWS KMS answered with the public key of another key than \(name.text).")
        }
        guard let der = Base64.standard.decode(answer.publicKey.utf8),
            let publicKey = P256.Signing.PublicKey(subjectPublicKeyInfo: der)
        else { throw .unfit("The public key of the KMS key \(name.text) is not one on P-256.") }
        return publicKey
    }

    func requireOpen() throws(KeyError) {
        if gate.isClosed { throw .closed }
    }

    // MARK: Failed openings

    /// Remembers a failed opening for a while. The gateway tries missing keys every second, and AWS bills each call.
    ///
    /// - Throws: the error of an attempt that failed shortly before.
    func remembering<Value>(
        _ selector: KeySelector, _ open: () async throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        if let failed = openAttempts.withLock({ $0[selector] }), .now - failed.time < KMSSettings.retryInterval {
            throw failed.error
        }
        do throws(KeyError) { return try await open() } catch {
            openAttempts.withLock { attempts in
                if attempts.count >= Self.rememberedAttempts { attempts.removeAll() }
                if error != .cancelled, error != .closed { attempts[selector] = (error, .now) }
            }
            throw error
        }
    }

    /// The next opening asks KMS again.
    func forgetFailure(_ selector: KeySelector) { openAttempts.withLock { $0[selector] = nil } }
}
