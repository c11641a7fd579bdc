import CLibCrypto
public import Crypto
public import SigningKit
import Synchronization

/// A key from a file. It signs on the calling thread: a signature takes about 20 µs, less than two thread switches.
public final class P8Key: SigningKey {
    public let publicKey: P256.Signing.PublicKey
    public let custody = KeyCustody.process
    public let signsInCaller = true

    private let key: LibCryptoKey
    private let state = Mutex(State())

    private struct State: ~Copyable {
        /// Contexts from `EVP_PKEY_sign_init`, for reuse: to fetch the algorithm costs a third of a signature. Only one
        /// thread at a time uses a context, so there are as many as threads have signed in parallel.
        var idle: [SigningContext] = []
        var inFlight = 0
        var isClosed = false
    }

    /// The key is closed, and no signature is in progress.
    private let ended = AsyncEvent()

    init(_ key: LibCryptoKey) throws(KeyError) {
        self.key = key
        do { publicKey = try P256.Signing.PublicKey(x963Representation: key.point) } catch {
            throw .unfit("The key's public point is not on P-256.")
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    public func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature { try signNow(digest) }

    public func sign(_ digest: SHA256Digest, receive: @escaping SignatureReceiver) {
        let result: Result<P256Signature, KeyError>
        do throws(KeyError) { result = .success(try signNow(digest)) } catch { result = .failure(error) }
        receive(result)
    }

    private func signNow(_ digest: SHA256Digest) throws(KeyError) -> P256Signature {
        let context = try begin()
        let signature = context.sign(digest)
        end(context, isUsable: signature != nil)
        guard let signature else { throw .failed("libcrypto could not make a signature.") }
        return signature
    }

    func close() async {
        let isIdle = state.withLock { state in
            state.isClosed = true
            state.idle.removeAll()
            return state.inFlight == 0
        }
        if isIdle { ended.happen() }
        await ended.wait()
    }

    private func begin() throws(KeyError) -> SigningContext {
        let idle = try state.withLock { state throws(KeyError) in
            if state.isClosed { throw .closed }
            state.inFlight += 1
            return state.idle.popLast()
        }
        if let idle { return idle }
        if let fresh = SigningContext(key) { return fresh }
        end(nil, isUsable: false)
        throw .failed("libcrypto could not prepare a signature.")
    }

    private func end(_ context: SigningContext?, isUsable: Bool) {
        let isLast = state.withLock { state in
            state.inFlight -= 1
            if let context, isUsable, !state.isClosed { state.idle.append(context) }
            return state.isClosed && state.inFlight == 0
        }
        if isLast { ended.happen() }
    }
}

/// `EVP_PKEY_CTX`, ready to sign, for one thread at a time.
final class SigningContext: @unchecked Sendable {
    // `P8Key` passes it between threads under its lock and never shares it.
    private let context: OpaquePointer

    init?(_ key: LibCryptoKey) {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pkey, nil) else { return nil }
        guard EVP_PKEY_sign_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_PKEY_CTX_free(context)
    }

    /// `EVP_PKEY_sign` over the digest. Nil if libcrypto fails or returns anything but strict DER.
    func sign(_ digest: SHA256Digest) -> P256Signature? {
        var der = InlineArray<72, UInt8>(repeating: 0)
        var count = 72
        let isSigned = digest.withUnsafeBytes { digest in
            var room = der.mutableSpan
            return room.withUnsafeMutableBufferPointer { room in
                EVP_PKEY_sign(
                    context, room.baseAddress, &count,
                    digest.baseAddress?.assumingMemoryBound(to: UInt8.self), digest.count)
            }
        }
        guard isSigned == 1, count <= 72 else {
            ERR_clear_error()
            return nil
        }
        return P256Signature(derRepresentation: der.span.extracting(first: count))
    }
}
