public import Crypto
public import SigningKit

/// A digest to sign: 52 bytes in a `sign` frame.
public struct SignRequest: Sendable {
    static let length = 52

    /// Unique on its connection.
    public let id: UInt64
    /// The number of the key, from `SignerCall.findKey`.
    public let key: UInt32
    /// The signer does not sign after this time (CLOCK_MONOTONIC, in nanoseconds).
    public let deadline: UInt64
    public let digest: SHA256Digest

    public init(id: UInt64, key: UInt32, deadline: UInt64, digest: SHA256Digest) {
        self.id = id
        self.key = key
        self.deadline = deadline
        self.digest = digest
    }

    public static func append(_ request: SignRequest, to records: inout [UInt8]) {
        records.append(bigEndian: request.id)
        records.append(bigEndian: request.key)
        records.append(bigEndian: request.deadline)
        request.digest.withUnsafeBytes { records.append(contentsOf: $0) }
    }

    /// - Throws: unless the payload consists of records.
    public static func read(_ payload: [UInt8]) throws(SignerProtocolError) -> [SignRequest] {
        try records(in: payload, of: length, named: "digests") { record in
            SignRequest(
                id: record.integer(at: 0), key: record.integer(at: 8), deadline: record.integer(at: 12),
                digest: SHA256Digest(copying: UnsafeRawBufferPointer(rebasing: record[20...])))
        }
    }
}

/// A signature: 72 bytes in a `signatures` frame.
public struct SignatureRecord: Sendable {
    static let length = 72

    public let id: UInt64
    public let signature: P256Signature

    public static func append(_ id: UInt64, _ signature: P256Signature, to records: inout [UInt8]) {
        records.append(bigEndian: id)
        withUnsafeBytes(of: signature.rawRepresentation) { records.append(contentsOf: $0) }
    }

    /// - Throws: unless the payload consists of records.
    public static func read(_ payload: [UInt8]) throws(SignerProtocolError) -> [SignatureRecord] {
        try records(in: payload, of: length, named: "signatures") { record in
            var raw = InlineArray<64, UInt8>(repeating: 0)
            withUnsafeMutableBytes(of: &raw) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: record[8...]))
            }
            return SignatureRecord(id: record.integer(at: 0), signature: P256Signature(rawRepresentation: raw))
        }
    }
}

private func records<Record>(
    in payload: [UInt8], of length: Int, named name: String, _ read: (UnsafeRawBufferPointer) -> Record
) throws(SignerProtocolError) -> [Record] {
    guard !payload.isEmpty, payload.count.isMultiple(of: length) else {
        throw SignerProtocolError("sent a frame of \(name) with \(payload.count) bytes, which is no number of records")
    }
    return payload.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count, by: length).map {
            read(UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + length]))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Big-endian.
    fileprivate func integer<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
        Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension SHA256Digest {
    private static let zero = SHA256.hash(data: [UInt8]())

    /// A digest with these 32 bytes. swift-crypto has no initializer for it; a digest is its 32 bytes in memory, and a
    /// test compares them.
    init(copying bytes: UnsafeRawBufferPointer) {
        self = Self.zero
        withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: bytes) }
    }
}
