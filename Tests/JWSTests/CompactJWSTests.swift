import JWS
import Testing

@Suite("Compact JWS")
struct CompactJWSTests {
    /// RFC 7515 appendix A.3: ES256.
    private let token = """
        eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cn\
        VlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q
        """

    @Test("The parser splits the example of RFC 7515 into its parts")
    func parse() throws {
        let jws = try CompactJWS(parsing: token.utf8)
        #expect(jws.header == Array(#"{"alg":"ES256"}"#.utf8))
        #expect(jws.payload.starts(with: Array("{\"iss\":\"joe\",\r\n".utf8)))
        #expect(jws.signature.prefix(4) == [14, 209, 33, 83])
        #expect(jws.signature.count == 64)
        #expect(jws.signingInput == Array(token.utf8.prefix { _ in true }.dropLast(87)))
    }

    @Test("seal restores a parsed JWS byte for byte")
    func roundTrip() throws {
        let jws = try CompactJWS(parsing: token.utf8)
        let input = CompactJWS.signingInput(header: jws.header, payload: jws.payload)
        #expect(input == jws.signingInput)
        #expect(CompactJWS.serialized(input, signature: jws.signature.span) == Array(token.utf8))
    }

    @Test("The parser requires exactly three parts", arguments: ["", "a", "YQ.YQ", "YQ.YQ.YQ.YQ", "YQ.YQ.YQ.", "...."])
    func partCount(_ text: String) {
        let count = text.utf8.count { $0 == UInt8(ascii: ".") } + 1
        #expect(throws: CompactJWSError.partCount(count)) { try CompactJWS(parsing: text.utf8) }
    }

    @Test(
        "The parser names the part that is not Base64url",
        arguments: [
            ("Y.YQ.YQ", CompactJWSError.Part.header), ("YQ==.YQ.YQ", .header), (" YQ.YQ.YQ", .header),
            ("YQ.Y+.YQ", .payload),
            ("YQ.YQ.YR", .signature), ("YQ.YQ.YQ\n", .signature),
        ])
    func notBase64URL(_ text: String, _ part: CompactJWSError.Part) {
        #expect(throws: CompactJWSError.notBase64URL(part)) { try CompactJWS(parsing: text.utf8) }
    }

    @Test("The parser accepts empty parts (RFC 7515 appendix F detaches the payload)")
    func emptyParts() throws {
        let jws = try CompactJWS(parsing: "YQ..".utf8)
        #expect(jws.payload.isEmpty)
        #expect(jws.signature.isEmpty)
        #expect(jws.signingInput == Array("YQ.".utf8))
    }
}
