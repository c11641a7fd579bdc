import Crypto
import Foundation
import PKCS11Token
import SigningKit
import SoftHSMTesting

/// A token for fault tests with two keys, one of which needs a login for each signature.
final class FaultTestToken {
    let module: FaultyModule
    private var token: SoftHSMToken
    private let keys: [String: P256.Signing.PrivateKey]

    /// The time without a recovery after which the operator acts.
    static let timeout = Duration.seconds(5)

    init() throws {
        let hsm = try SoftHSM.shared.get()
        try hsm.removeTokens()
        module = try FaultyModule.shared.get()
        token = try hsm.makeToken()
        keys = ["PLAIN": P256.Signing.PrivateKey(), "CAREFUL": P256.Signing.PrivateKey()]
        for (id, name) in keys.keys.sorted().enumerated() {
            try token.importKey(
                keys[name] ?? P256.Signing.PrivateKey(), label: name, id: [UInt8(id + 1)],
                .with { $0.alwaysAuthenticates = name == "CAREFUL" })
        }
    }

    func uri(_ name: String) -> String { token.uri("object=\(name)", modulePath: module.path) }

    var names: [String] { keys.keys.sorted(by: >) }

    func hasFired(_ fault: FaultCase) -> Bool { module.count("fault \(fault.function)") > 0 }

    /// Changes the PIN, as the operator does after the token refused it.
    func changePIN() throws { token = try token.changingPIN() }

    /// Opens the keys with the settings of a small token.
    func open(reopenOrderedAt: UInt64?) async throws(KeyError) -> OpenKeys {
        let settings: [String: PluginSettings.Value] = ["sessions": .integer(2), "operationTimeout": .integer(5)]
        let (backend, first) = try await PKCS11TokenTests.open(
            uri(names[0]), settings, reopenOrderedAt: reopenOrderedAt)
        do throws(KeyError) {
            var opened = [first]
            for name in names.dropFirst() {
                let address = try PKCS11TokenBackend.address(of: try KeyURI(uri(name)))
                opened.append(try await backend.key(address.selector))
            }
            return OpenKeys(backend: backend, keys: opened, expected: names.compactMap { keys[$0]?.publicKey })
        } catch {
            await backend.close()
            throw error
        }
    }

    /// The number of logins after the first failed login that may have cost a PIN attempt.
    var loginsAfterRefusal: Int {
        let logins = module.callLines.filter { $0.hasPrefix("login ") }
        guard let refused = logins.firstIndex(where: Self.mayCostATry) else { return 0 }
        return logins.count - 1 - refused
    }

    /// For these values, the standard names a condition before the call, so the token did not check the PIN.
    private static let unchecked: Set<UInt> = [0xB3, 0xE0, 0x190, 0x100, 0x104, 0x105]

    private static func mayCostATry(_ login: String) -> Bool {
        guard let rv = login.split(separator: "rv=0x").last, let code = UInt(rv, radix: 16) else { return false }
        // CKR_OPERATION_NOT_INITIALIZED for CKU_CONTEXT_SPECIFIC, the login for one signature.
        if code == 0x91, login.contains("user=0x2 ") { return false }
        return code != 0 && !unchecked.contains(code)
    }
}

struct OpenKeys {
    let backend: PKCS11TokenBackend
    let keys: [any SigningKey]
    let expected: [P256.Signing.PublicKey]

    enum Outcome {
        case signed
        case failed(KeyError)
        case wrong(String)
    }

    func sign() async -> Outcome {
        for (key, expected) in zip(keys, expected) {
            let digest = SHA256.hash(data: Array("\(UUID())".utf8))
            do throws(KeyError) {
                let signature = try await key.sign(digest)
                guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature.bytes),
                    expected.isValidSignature(parsed, for: digest)
                else { return .wrong("a signature does not verify") }
            } catch {
                return .failed(error)
            }
        }
        return .signed
    }
}

extension KeyError {
    /// Whether the gateway does not use the key until the operator has changed something (`KeyState.refused`).
    var needsPerson: Bool {
        switch self {
        case .invalidURI, .invalidSetting, .secretUnavailable, .loginRefused, .loginBlocked, .ambiguous, .unfit: true
        case .notFound, .busy, .cancelled, .closed, .unavailable, .failed: false
        }
    }
}
