import Encodings

/// A JWS in compact serialization (RFC 7515 §7.1): `BASE64URL(header).BASE64URL(payload).BASE64URL(signature)`.
public struct CompactJWS: Sendable {
    /// The protected header, as JSON.
    public let header: [UInt8]
    public let payload: [UInt8]
    /// For ES256: r ‖ s, 64 bytes (RFC 7518 §3.4).
    public let signature: [UInt8]
    /// The signed bytes: header and payload as received, with the dot between them.
    public let signingInput: [UInt8]

    /// The bytes to sign (RFC 7515 §5.1 step 8).
    ///
    /// - Returns: ASCII, with capacity for a 64-byte signature, so that `serialized` need not reallocate.
    public static func signingInput(header: [UInt8], payload: [UInt8]) -> [UInt8] {
        var input: [UInt8] = []
        input.reserveCapacity((header.count + payload.count) * 4 / 3 + 96)
        Base64.url.append(header, to: &input)
        input.append(UInt8(ascii: "."))
        Base64.url.append(payload, to: &input)
        return input
    }

    /// The complete JWS, as ASCII.
    public static func serialized(_ signingInput: [UInt8], signature: Span<UInt8>) -> [UInt8] {
        var token = signingInput
        token.append(UInt8(ascii: "."))
        Base64.url.append(signature, to: &token)
        return token
    }

    /// Splits a JWS. It decodes the header and the payload, but does not parse their JSON.
    public init(parsing token: some Collection<UInt8>) throws(CompactJWSError) {
        let parts = Array(token).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .partCount(parts.count) }
        header = try Self.decode(parts[0], .header)
        payload = try Self.decode(parts[1], .payload)
        signature = try Self.decode(parts[2], .signature)
        signingInput = Array(token.dropLast(parts[2].count + 1))
    }

    private static func decode(
        _ part: ArraySlice<UInt8>, _ name: CompactJWSError.Part
    ) throws(CompactJWSError) -> [UInt8] {
        guard let bytes = Base64.url.decode(part) else { throw .notBase64URL(name) }
        return bytes
    }
}

/// Why a text is not a compact JWS.
public enum CompactJWSError: Error, Equatable, Sendable {
    public enum Part: String, Sendable {
        case header, payload, signature
    }

    /// The number of parts is not three.
    case partCount(Int)
    /// The part is not Base64url without padding (RFC 7515 §2).
    case notBase64URL(Part)
}
