/// A frame of the protocol between the gateway and a signer process: a length (UInt32), a kind (UInt8) and a payload. The
/// length counts kind and payload. All integers are big-endian.
public struct SignerFrame: Sendable {
    public enum Kind: UInt8, Sendable {
        /// From the gateway: `Numbered<SignerCall>` in JSON.
        case call = 1
        /// From the signer: `Numbered<SignerAnswer>` in JSON.
        case answer = 2
        /// From the gateway: `SignRequest` records.
        case sign = 3
        /// From the signer: `SignatureRecord` records.
        case signatures = 4
        /// From the signer: `[Numbered<KeyError>]` in JSON, for requests without a signature.
        case refusals = 5
        /// From the signer: `SignerNotice` in JSON.
        case notice = 6
        /// From the signer: `Numbered<SignerQuestion>` in JSON.
        case question = 7
        /// From the gateway: `Numbered<SignerReply>` in JSON.
        case reply = 8

        var maximumLength: Int {
            switch self {
            case .answer, .notice, .question: SignerFrame.maximumMessageLength
            case .call, .sign, .signatures, .refusals, .reply: SignerFrame.maximumLength
            }
        }
    }

    /// Of kind and payload, in bytes.
    public static let maximumLength = 1 << 20
    /// The same for an answer, a notice or a question. The gateway reads them on a thread that also serves others.
    public static let maximumMessageLength = 1 << 17
    static let headLength = 5

    public let kind: Kind
    public let payload: [UInt8]

    public init(_ kind: Kind, _ payload: [UInt8]) {
        self.kind = kind
        self.payload = payload
    }

    /// Appends a frame whose payload has this length, up to its payload.
    static func appendHead(_ kind: Kind, payloadLength: Int, to bytes: inout [UInt8]) {
        let length = UInt32(clamping: payloadLength + 1)
        withUnsafeBytes(of: length.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(kind.rawValue)
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headLength + payload.count)
        Self.appendHead(kind, payloadLength: payload.count, to: &bytes)
        return bytes + payload
    }
}

/// Why a connection to a signer, or to a gateway, cannot continue. The text names what the other side did.
public struct SignerProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// Splits a stream of bytes into frames.
public struct SignerFrameReader: Sendable {
    private var buffer: [UInt8] = []
    private var start = 0

    public init() {}

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next complete frame; nil if more bytes are needed.
    ///
    /// - Throws: for a length out of range and for an unknown kind. The stream is unusable then.
    public mutating func next() throws(SignerProtocolError) -> SignerFrame? {
        guard buffer.count - start >= SignerFrame.headLength else { return nil }
        let length = buffer[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard let kind = SignerFrame.Kind(rawValue: buffer[start + 4]) else {
            throw SignerProtocolError("sent a frame of the unknown kind \(buffer[start + 4])")
        }
        guard (1...kind.maximumLength).contains(length) else {
            throw SignerProtocolError(
                "sent a frame (\(kind)) of \(length) bytes; 1 to \(kind.maximumLength) are allowed")
        }
        let end = start + 4 + length
        guard end <= buffer.count else {
            discardConsumed()
            return nil
        }
        let frame = SignerFrame(kind, Array(buffer[start + SignerFrame.headLength..<end]))
        start = end
        return frame
    }

    /// Keeps the buffer below the size of two frames.
    private mutating func discardConsumed() {
        guard start > 0 else { return }
        buffer.removeFirst(start)
        start = 0
    }
}
