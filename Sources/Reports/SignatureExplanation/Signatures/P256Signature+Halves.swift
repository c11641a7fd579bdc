import SigningKit

extension P256Signature {
    /// The signatures that are meant if r and s, or their bytes, are in the wrong order.
    var reordered: [(signature: P256Signature, finding: Finding)] {
        let swapped = P256Signature(rawRepresentation: bytes[32...] + bytes[..<32])
        let reversed = P256Signature(rawRepresentation: bytes[..<32].reversed() + bytes[32...].reversed())
        let forms: [(P256Signature?, FindingCode, String)] = [
            (swapped, .signatureHalvesSwapped, "The signature is s ‖ r, not r ‖ s."),
            (reversed, .signatureLittleEndian, "The two numbers of the signature are little-endian."),
        ]
        return forms.compactMap { form, code, message in
            form.map { ($0, Finding(code, .error, .proven, field: "signature", message)) }
        }
    }
}
