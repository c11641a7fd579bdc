import Crypto
import Glibc
import SignerProtocol
import SigningKit

/// The other end of a connection, which answers calls as a signer does and digests as a test wants.
struct LyingSigner {
    let key: P256.Signing.PrivateKey
    /// Gets the requests of one frame, and returns the bytes to send; nil to end the connection.
    let answer: @Sendable (LyingSigner, [SignRequest]) -> [UInt8]?

    /// The frame of a true answer.
    func signatures(_ requests: [SignRequest], ids: (UInt64) -> UInt64 = { $0 }) -> [UInt8] {
        var payload: [UInt8] = []
        for request in requests {
            guard let bytes = try? key.signature(for: request.digest).rawRepresentation,
                let signature = P256Signature(rawRepresentation: bytes)
            else { continue }
            SignatureRecord.append(ids(request.id), signature, to: &payload)
        }
        return SignerFrame(.signatures, payload).bytes
    }

    func serve(_ descriptor: Int32) {
        var frames = SignerFrameReader()
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &room, room.count)
            guard count > 0 else { return }
            room[..<count].withUnsafeBytes { frames.append($0) }
            while let frame = try? frames.next() {
                guard let bytes = reply(to: frame) else {
                    shutdown(descriptor, Int32(SHUT_RDWR))
                    return
                }
                _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
        }
    }

    private func reply(to frame: SignerFrame) -> [UInt8]? {
        switch frame.kind {
        case .sign: return (try? SignRequest.read(frame.payload)).flatMap { answer(self, $0) }
        case .call:
            guard let call: Numbered<SignerCall> = try? frame.decode() else { return nil }
            return SignerFrame.encoding(Numbered(call.id, reply(to: call.message)), as: .answer).bytes
        // It does not wait for the replies to its questions.
        case .reply: return []
        default: return nil
        }
    }

    private func reply(to call: SignerCall) -> SignerAnswer {
        switch call {
        case .start: .started(SignerProtection(pid: 1, uid: 0, layers: [], missing: [:]))
        case .open: .opened(secrets: [])
        case .findKey: .found(FoundKeyAnswer(PublicOnly(publicKey: key.publicKey)))
        case .report: .report(KeyBackendReport(health: .ready))
        default: .done
        }
    }

    /// Only its public key counts.
    private struct PublicOnly: SigningKey {
        let publicKey: P256.Signing.PublicKey
        let custody = KeyCustody.token

        func sign(_ digest: SHA256Digest) async throws(KeyError) -> P256Signature { throw .closed }
    }
}
