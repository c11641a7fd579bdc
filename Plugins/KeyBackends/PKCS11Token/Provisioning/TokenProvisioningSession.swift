import Crypto
import Encodings
import KeyTransport
import PKCS11
public import SigningKit

extension PKCS11TokenBackend: KeyProvisioning {
    /// - Returns: `uri`, with `keyID` as the label if it has none.
    public static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI {
        if uri.path.split(separator: ";").contains(where: { $0.hasPrefix("object=") }) { return uri }
        let query = uri.query.joined(separator: "&")
        return try KeyURI("\(uri.scheme):\(uri.path);object=\(keyID)" + (query.isEmpty ? "" : "?\(query)"))
    }

    public static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession {
        try await TokenProvisioningSession.open(locator, in: environment)
    }
}

/// A provisioning session with a token. Its calls block, so they run on its own thread.
final class TokenProvisioningSession: ProvisioningSession {
    private let token: WritableToken
    private let worker: Worker
    private let watch: Worker

    /// In milliseconds: a smart card needs a minute for an RSA pair.
    private static let timeout = 180_000

    private init(_ token: WritableToken, _ worker: Worker, _ watch: Worker) {
        (self.token, self.worker, self.watch) = (token, worker, watch)
    }

    static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> TokenProvisioningSession {
        try await Worker.performOnNewThread("privyseal-prov", within: timeout, onAbandoned: { $0.token.close() }) {
            worker, watch throws(KeyError) in
            TokenProvisioningSession(try WritableToken(locator, in: environment), worker, watch)
        }
    }

    var location: ProvisioningLocation {
        let info = token.info
        return ProvisioningLocation(
            name: "token \(info.name)", serial: info.serial, model: info.model,
            evidence: [
                "tokenLabel": info.label, "tokenSerial": info.serial, "tokenModel": info.model,
                "tokenManufacturer": info.manufacturer, "tokenFirmware": info.firmware,
            ])
    }

    func take(
        _ key: IncomingKey, as selector: KeySelector, isResumed: Bool, allowsClear: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await perform { token in
            let name = try KeyName(selector, publicKey: key.publicKey)
            return try KeyImport(token: token, key: key, name: name, allowsClear: allowsClear, tell: tell)
                .run(isResumed: isResumed)
        }
    }

    func generate(
        as selector: KeySelector, isResumed: Bool, tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> ProvisionedKey {
        try await perform { token in
            try KeyGeneration(token: token, selector: selector, tell: tell).run(isResumed: isResumed)
        }
    }

    func makeWrappingKey(as selector: KeySelector) async throws(KeyError) -> GeneratedWrappingKey {
        try await perform { token in
            try WrappingKeyPair.make(KeyName(selector, publicKey: nil), on: token)
        }
    }

    func destroy(
        _ selector: KeySelector, expecting fingerprint: PublicKeyFingerprint?, isResumed: Bool,
        tell: @escaping @Sendable (String) -> Void
    ) async throws(KeyError) -> DestroyedKey {
        try await perform { token in
            try KeyDestruction(
                token: token, selector: selector, fingerprint: fingerprint, isResumed: isResumed, tell: tell
            ).run()
        }
    }

    func close() async {
        // After a call that hangs, the process does not wait for as long again.
        _ = try? await perform(within: 10_000) { token in token.close() }
        worker.end()
        watch.end()
    }

    private func perform<Value: Sendable>(
        within milliseconds: Int = timeout, _ body: @escaping @Sendable (WritableToken) throws -> Value
    ) async throws(KeyError) -> Value {
        try await worker.perform(within: milliseconds, watchedBy: watch) { [token] () throws(KeyError) in
            do { return try body(token) } catch { throw token.keyError(error) }
        }
    }
}

extension ProvisionedKey {
    init(
        _ publicKey: P256.Signing.PublicKey, _ method: Method, label: String, id: [UInt8],
        _ readback: CreatedKeyCheck, lacksPublicKey: Bool = false
    ) {
        let summary =
            switch method {
            case .unwrapped: "It was imported by C_UnwrapKey under a temporary key, which the token made and deleted."
            case .unwrappedPackage: "It was unwrapped in the token; it was never in the clear on this machine."
            case .created:
                "It was imported by C_CreateObject, in the clear, as you allowed: the token cannot unwrap."
            case .generated: "The token made it."
            case .found: "It was there from an interrupted run."
            }
        self.init(
            publicKey: publicKey, method: method, summary: summary, attributes: readback.attributes,
            evidence: ["CKA_LABEL": label, "CKA_ID": Hexadecimal.encode(id)], warnings: readback.warnings,
            lacksPublicKey: lacksPublicKey)
    }
}

/// A token with one read-write session, for one thread. The code that uses it throws `PKCS11Error` and `KeyError`;
/// `keyError` makes the sentence for the operator.
struct WritableToken: Sendable {
    let info: TokenInfo
    let session: Session

    /// Finds the token and logs in as the signing backend does.
    init(_ locator: KeyLocator, in environment: KeyBackendEnvironment) throws(KeyError) {
        let user = TokenSettings(environment.settings).user
        let opened = try OpenedToken(locator, as: user, in: environment) { slot, module, info throws(KeyError) in
            guard !info.flags.contains(.writeProtected) else { throw info.readOnly("CKF_WRITE_PROTECTED") }
            do throws(PKCS11Error) { return try Session(on: slot, of: module, writable: true) } catch {
                throw error.whileProvisioning(info)
            }
        }
        (info, session) = (opened.info, opened.session)
    }

    func close() {
        session.abandon()
        _ = session.module.closeAbandoned(within: 1000)
        session.module.close()
    }

    func destroy(_ objects: [ObjectHandle]) throws(PKCS11Error) {
        for object in objects { try session.destroy(object) }
    }

    func keyError(_ error: any Error) -> KeyError {
        switch error {
        case let error as KeyError: error
        case let error as PKCS11Error: error.whileProvisioning(info)
        default: .unfit("\(error)")
        }
    }

    // MARK: Mechanisms

    /// Whether the token has the mechanism for this use. Without `C_GetMechanismInfo`, its mechanism list decides.
    func has(_ mechanism: Mechanism, for use: MechanismUse) throws(PKCS11Error) -> Bool {
        do throws(PKCS11Error) {
            return try session.module.uses(of: mechanism, on: session.slot).contains(use)
        } catch {
            guard error.returnValue == .functionNotSupported else { throw error }
            return try session.module.mechanisms(on: session.slot).contains(mechanism)
        }
    }

    /// - Throws: `unfit` for a token with which no key can sign, before anything is sent to it.
    func requireSigning() throws {
        guard try !has(.ecdsa, for: .sign) else { return }
        throw KeyError.unfit(
            "The token \(info.name) does not list CKM_ECDSA for signing, so a key on it would be of no use. Nothing was sent "
                + "to it. Use another token, or a firmware that has the mechanism.")
    }

    /// The mechanisms of RFC 5649 that the token lists, with the name of PKCS #11 v3.0 first.
    func paddedWraps() throws(PKCS11Error) -> [Mechanism] {
        var found: [Mechanism] = []
        for mechanism in [Mechanism.aesKeyWrapKWP, .aesKeyWrapPadded] where try has(mechanism, for: .unwrap) {
            found.append(mechanism)
        }
        return found
    }

    /// Unwraps a P-256 key by the first of these mechanisms that the token does not deny; nil if it denies all.
    func unwrap(
        _ wrapped: [UInt8], with key: ObjectHandle, by mechanisms: [Mechanism], hash: WrappingHash = .sha1,
        _ templates: [[Attribute]], as method: ProvisionedKey.Method
    ) throws -> NewPrivateKey? {
        for mechanism in mechanisms {
            do {
                let (object, template) = try KeyTemplate.mostCompleteAccepted(templates) { template in
                    try session.unwrapKey(wrapped, with: key, mechanism, hash: hash.oaep, template)
                } discard: { object in
                    try? session.destroy(object)
                }
                return NewPrivateKey(object: object, method: method, warnings: KeyTemplate.warnings(template))
            } catch let error as PKCS11Error where error.returnValue.deniesMechanism {
                continue
            }
        }
        return nil
    }
}

/// A private key that is in the token and has not been checked yet.
struct NewPrivateKey {
    let object: ObjectHandle
    var method: ProvisionedKey.Method
    var warnings: [String]
}

extension ReturnValue {
    /// Whether the token denies a mechanism, even if it lists it.
    var deniesMechanism: Bool {
        self == .mechanismInvalid || self == .mechanismParamInvalid || self == .functionNotSupported
    }
}

extension WrappingHash {
    var oaep: OAEPHash {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        }
    }
}

extension PKCS11Error {
    func whileProvisioning(_ token: TokenInfo) -> KeyError {
        switch returnValue {
        case .deviceMemory:
            return .unfit(
                "The token \(token.name) is full (\(self)). Destroy a retired key on it, or use another token.")
        case .tokenWriteProtected, .sessionReadOnly:
            return token.readOnly("\(self)")
        default:
            let sentence = "The token \(token.name) could not \(function.step): \(self)."
            return endsSession ? .unavailable(sentence) : .failed(sentence)
        }
    }
}

extension CryptokiFunction {
    /// What provisioning does with the function. It continues the sentence "The token could not".
    fileprivate var step: String {
        switch self {
        case .openSession: "open a read-write session"
        case .findObjectsInit, .findObjects, .findObjectsFinal: "list its keys"
        case .getAttributeValue: "show the attributes of a key"
        case .getMechanismInfo, .getMechanismList: "list its mechanisms"
        case .generateKeyPair: "generate a key pair"
        case .generateKey: "generate an AES key"
        case .encryptInit, .encrypt: "encrypt under its AES key"
        case .unwrapKey: "unwrap the key"
        case .createObject: "store the key"
        case .destroyObject: "destroy a key"
        case .signInit, .sign: "sign a proof of possession"
        default: "answer"
        }
    }
}

extension TokenInfo {
    func readOnly(_ evidence: String) -> KeyError {
        .unfit("The token \(name) is read-only (\(evidence)). Remove its write protection, or use another token.")
    }
}
