import AsyncHTTPClient
import AuditLog
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import TransparencyLog

/// The requests of one round to one witness.
struct WitnessExchange {
    enum Answer {
        case cosigned(NoteSignature)
        /// The size of the checkpoint that the witness cosigned last.
        case conflict(size: Int)
    }

    let verifier: NoteVerifier
    let url: String
    let client: HTTPClient
    let deadline: NIODeadline

    /// The largest answer that is read, in bytes.
    private static let answerLimit = 1 << 16

    func ask(_ body: AddCheckpointRequest) async throws(WitnessRefusal) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        request.body = .bytes(ByteBuffer(string: body.text))
        let (status, bytes): (HTTPResponseStatus, [UInt8])
        do {
            let response = try await client.execute(request, deadline: deadline)
            let buffer = try await response.body.collect(upTo: Self.answerLimit)
            (status, bytes) = (response.status, Array(buffer.readableBytesView))
        } catch {
            throw WitnessRefusal("\(url) did not answer: \(Self.reason(for: error)).")
        }
        switch status {
        case .ok: return .cosigned(try signature(in: bytes, of: body.note))
        case .conflict:
            guard bytes.last == UInt8(ascii: "\n"), let size = DecimalNumber.parse(bytes.dropLast()) else {
                throw WitnessRefusal("\(url) answered 409 without a size.")
            }
            return .conflict(size: size)
        case .notFound:
            throw WitnessRefusal(
                "\(url) answered 404: it does not know this log. Give its operator the log's public key, which "
                    + "privyseal audit keys prints, or correct the URL in the policy.")
        case .forbidden:
            throw WitnessRefusal(
                "\(url) answered 403: it knows another key for this log. Give its operator the key that privyseal audit "
                    + "keys prints.")
        case .unprocessableEntity:
            throw WitnessRefusal(
                "\(url) answered 422: this log does not begin with the entries that it cosigned before. The log was "
                    + "changed, or another log has the same key. Run privyseal audit verify.", .contradiction)
        default: throw WitnessRefusal("\(url) answered \(status.code).")
        }
    }

    /// The signature by the witness' key; others are ignored.
    private func signature(in bytes: [UInt8], of note: SignedNote) throws(WitnessRefusal) -> NoteSignature {
        let signed = try? SignedNote(parsing: Array("\(note.text)\n".utf8) + bytes)
        guard let signature = signed?.signatures.first(where: verifier.made) else {
            throw WitnessRefusal("The answer of \(url) has no signature by the key \(verifier.text).")
        }
        guard verifier.verify(signature.bytes, of: note.text) else {
            throw WitnessRefusal("The signature of \(url) is wrong.")
        }
        return signature
    }

    private static func reason(for error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case is NIOSSLError:
            "the TLS handshake failed; check its certificate, and the authorities that this machine trusts"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }
}
