import CP11Kit

/// A mechanism type (`CK_MECHANISM_TYPE`), without a parameter.
public struct Mechanism: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// ECDSA over a digest that the caller computed; returns r ‖ s (PKCS #11 v2.40 mechanisms §2.3.6).
    public static let ecdsa = Mechanism(rawValue: CKM_ECDSA)
    public static let ecKeyPairGeneration = Mechanism(rawValue: CKM_EC_KEY_PAIR_GEN)
    public static let aesKeyGeneration = Mechanism(rawValue: CKM_AES_KEY_GEN)
    public static let rsaKeyPairGeneration = Mechanism(rawValue: CKM_RSA_PKCS_KEY_PAIR_GEN)
    /// Independent blocks of 16 bytes (PKCS #11 v2.40 mechanisms §2.8.5).
    public static let aesECB = Mechanism(rawValue: CKM_AES_ECB)
    /// RFC 3394: a multiple of eight bytes.
    public static let aesKeyWrap = Mechanism(rawValue: CKM_AES_KEY_WRAP)
    /// RFC 5649: any length, such as a private key in PKCS #8. PKCS #11 v2.40 and SoftHSM use this name.
    public static let aesKeyWrapPadded = Mechanism(rawValue: CKM_AES_KEY_WRAP_PAD)
    /// RFC 5649 by the name of PKCS #11 v3.0 (`CKM_AES_KEY_WRAP_KWP`), which p11-kit 0.24 does not have.
    public static let aesKeyWrapKWP = Mechanism(rawValue: 0x210B)
    /// RFC 8017 §7.1, without a label.
    public static let rsaOAEP = Mechanism(rawValue: CKM_RSA_PKCS_OAEP)
    /// An AES key under RSA-OAEP, then a key under that AES key by RFC 5649 (PKCS #11 v2.40 mechanisms §2.1.21).
    public static let rsaAESKeyWrap = Mechanism(rawValue: CKM_RSA_AES_KEY_WRAP)

    /// The standard's name, for messages.
    public var name: String { Self.names[rawValue] ?? "CKM 0x" + String(rawValue, radix: 16) }

    private static let names: [UInt: String] = [
        CKM_RSA_PKCS_KEY_PAIR_GEN: "CKM_RSA_PKCS_KEY_PAIR_GEN", CKM_RSA_PKCS: "CKM_RSA_PKCS",
        CKM_RSA_PKCS_OAEP: "CKM_RSA_PKCS_OAEP", CKM_RSA_PKCS_PSS: "CKM_RSA_PKCS_PSS",
        CKM_SHA256_RSA_PKCS: "CKM_SHA256_RSA_PKCS", CKM_SHA_1: "CKM_SHA_1", CKM_SHA256: "CKM_SHA256",
        CKM_SHA384: "CKM_SHA384", CKM_SHA512: "CKM_SHA512", CKM_SHA256_HMAC: "CKM_SHA256_HMAC",
        CKM_GENERIC_SECRET_KEY_GEN: "CKM_GENERIC_SECRET_KEY_GEN", CKM_EC_KEY_PAIR_GEN: "CKM_EC_KEY_PAIR_GEN",
        CKM_ECDSA: "CKM_ECDSA", CKM_ECDSA_SHA256: "CKM_ECDSA_SHA256", CKM_ECDH1_DERIVE: "CKM_ECDH1_DERIVE",
        CKM_AES_KEY_GEN: "CKM_AES_KEY_GEN", CKM_AES_ECB: "CKM_AES_ECB", CKM_AES_CBC: "CKM_AES_CBC",
        CKM_AES_CBC_PAD: "CKM_AES_CBC_PAD", CKM_AES_CTR: "CKM_AES_CTR", CKM_AES_GCM: "CKM_AES_GCM",
        CKM_AES_CMAC: "CKM_AES_CMAC", CKM_AES_KEY_WRAP: "CKM_AES_KEY_WRAP",
        CKM_AES_KEY_WRAP_PAD: "CKM_AES_KEY_WRAP_PAD",
        Mechanism.aesKeyWrapKWP.rawValue: "CKM_AES_KEY_WRAP_KWP", CKM_RSA_AES_KEY_WRAP: "CKM_RSA_AES_KEY_WRAP",
    ]
}

/// The hash of RSA-OAEP and of its MGF1.
public enum OAEPHash: Sendable {
    case sha1, sha256
}

/// The uses of a mechanism that a token supports (flags of `CK_MECHANISM_INFO`).
public struct MechanismUse: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let encrypt = MechanismUse(rawValue: CKF_ENCRYPT)
    public static let sign = MechanismUse(rawValue: CKF_SIGN)
    public static let generate = MechanismUse(rawValue: CKF_GENERATE)
    public static let generateKeyPair = MechanismUse(rawValue: CKF_GENERATE_KEY_PAIR)
    public static let wrap = MechanismUse(rawValue: CKF_WRAP)
    public static let unwrap = MechanismUse(rawValue: CKF_UNWRAP)
}

extension Mechanism {
    /// Passes the mechanism with its parameter, valid during the call.
    func with<Result>(_ hash: OAEPHash = .sha1, _ body: (UnsafeMutablePointer<CK_MECHANISM>) -> Result) -> Result {
        var oaep = CK_RSA_PKCS_OAEP_PARAMS(hash)
        switch self {
        case .rsaOAEP:
            return with(parameter: &oaep, body)
        case .rsaAESKeyWrap:
            return withUnsafeMutablePointer(to: &oaep) { oaep in
                var parameter = RSAAESKeyWrapParameter(aesKeyBits: 256, oaep: oaep)
                return with(parameter: &parameter, body)
            }
        default:
            var mechanism = CK_MECHANISM(mechanism: rawValue, pParameter: nil, ulParameterLen: 0)
            return body(&mechanism)
        }
    }

    private func with<Parameter, Result>(
        parameter: inout Parameter, _ body: (UnsafeMutablePointer<CK_MECHANISM>) -> Result
    ) -> Result {
        withUnsafeMutableBytes(of: &parameter) { bytes in
            var mechanism = CK_MECHANISM(
                mechanism: rawValue, pParameter: bytes.baseAddress, ulParameterLen: UInt(bytes.count))
            return body(&mechanism)
        }
    }
}

/// `CK_RSA_AES_KEY_WRAP_PARAMS`, which p11-kit 0.24 does not have.
private struct RSAAESKeyWrapParameter {
    var aesKeyBits: UInt
    var oaep: UnsafeMutablePointer<CK_RSA_PKCS_OAEP_PARAMS>
}

extension CK_RSA_PKCS_OAEP_PARAMS {
    fileprivate init(_ hash: OAEPHash) {
        let (algorithm, mask): (UInt, UInt) =
            switch hash {
            case .sha1: (CKM_SHA_1, CKG_MGF1_SHA1)
            case .sha256: (CKM_SHA256, CKG_MGF1_SHA256)
            }
        self.init(
            hashAlg: algorithm, mgf: mask, source: CKZ_DATA_SPECIFIED, pSourceData: nil, ulSourceDataLen: 0)
    }
}

/// Signs digests in one session, for one thread at a time. Mechanism and buffers are allocated once, for speed.
public final class Signer: @unchecked Sendable {
    // Only the signing thread accesses the properties.
    public let session: Session
    private let mechanism: UnsafeMutablePointer<CK_MECHANISM>
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer

    /// Large enough for a signature over any curve, so that a wrong size is detected and not truncated.
    private static let outputSize = 256

    public init(_ session: Session, _ mechanism: Mechanism) {
        self.session = session
        self.mechanism = .allocate(capacity: 1)
        self.mechanism.initialize(
            to: CK_MECHANISM(mechanism: mechanism.rawValue, pParameter: nil, ulParameterLen: 0))
        input = .allocate(byteCount: 64, alignment: 16)
        output = .allocate(byteCount: Self.outputSize, alignment: 16)
    }

    deinit {
        mechanism.deallocate()
        input.deallocate()
        output.deallocate()
    }

    /// `C_SignInit` and `C_Sign`.
    ///
    /// - Parameters:
    ///   - digest: up to 64 bytes.
    ///   - login: the login between the two calls, for a key that requires the PIN for each signature.
    /// - Returns: the signature, valid until the next call.
    public func sign(
        _ digest: UnsafeRawBufferPointer, with key: ObjectHandle, login: ContextLogin = .none
    ) throws(PKCS11Error) -> UnsafeRawBufferPointer {
        let size = min(digest.count, input.count)
        input.copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<size]))
        let length = try session.module.call(.signInit, of: session.generation) { functions throws(PKCS11Error) in
            let begin = try ModuleOutput.function(.signInit, functions.pointee.C_SignInit)
            let sign = try ModuleOutput.function(.sign, functions.pointee.C_Sign)
            try check(.signInit, begin(session.handle, mechanism, key.rawValue))
            if case .pin(let pin) = login {
                try check(.login, try Session.login(functions, session.handle, .contextSpecific, pin))
            }
            var length = UInt(Self.outputSize)
            let answer = sign(
                session.handle, input.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(size),
                output.baseAddress?.assumingMemoryBound(to: UInt8.self), &length)
            try check(.sign, answer)
            return try ModuleOutput.count(length, atMost: Self.outputSize, from: .sign)
        }
        return UnsafeRawBufferPointer(rebasing: output[..<length])
    }

    /// A login for one signature.
    public enum ContextLogin {
        case none
        /// Nil if the PIN is entered on the token itself.
        case pin(UnsafeRawBufferPointer?)
    }
}
