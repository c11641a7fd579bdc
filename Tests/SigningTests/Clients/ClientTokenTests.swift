import Signing
import Testing

@Suite("Client tokens")
struct ClientTokenTests {
    @Test(
        "Tokens minted by Python are read and have the same digest",
        arguments: [
            (
                "privyseal_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA_0kZwsJ",
                "f7fca45457ffa5fce8e8bde56330ce879dc8f5150fb4c7c4bb12dd806427e8a9"
            ),
            (
                "privyseal_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_3hxHQm",
                "c531d854862ff88b1072978147571ff78bafb6fc26e3039bd19bba6d1f52dad3"
            ),
            // Many separators; then a checksum that begins with zeros
            (
                "privyseal___________________________________________8_0uXVCO",
                "ea9cc1b731a3fff873b491e6e26ac6e2dd90379eaf957870fd11470b37c56b4f"
            ),
            (
                "privyseal_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA8_00zSut",
                "c2d840662e7fa1425d7f244f27b18d85368480f370275473d898970f21ebfb47"
            ),
        ])
    func vectors(_ text: String, _ digest: String) throws {
        let token = try ClientToken(text)
        #expect(token.text == text)
        #expect(token.digest.description == digest)
        #expect(token.digest == Digest256("sha256:" + digest.uppercased()))
    }

    @Test("A new token has the documented form and is unique")
    func minted() throws {
        let tokens = (0..<1000).map { _ in ClientToken.mint().text }
        #expect(Set(tokens).count == tokens.count)
        #expect(tokens.allSatisfy { $0.wholeMatch(of: /privyseal_[A-Za-z0-9_-]{43}_[0-9A-Za-z]{6}/) != nil })
        for token in tokens { #expect(try ClientToken(token).text == token) }
    }

    @Test("A token with one changed character is refused")
    func typos() {
        let token = Array(ClientToken.mint().text)
        for index in token.indices {
            for character in "A0z_- " where character != token[index] {
                var typo = token
                typo[index] = character
                #expect(throws: ClientTokenError.self) { try ClientToken(String(typo)) }
            }
        }
    }

    @Test("The error for a truncated token names its length")
    func lengths() {
        let token = ClientToken.mint().text
        #expect(throws: ClientTokenError.length(59)) { try ClientToken(String(token.dropLast())) }
        #expect(throws: ClientTokenError.length(10)) { try ClientToken("privyseal_") }
        #expect(throws: ClientTokenError.notAToken) { try ClientToken("") }
        #expect(throws: ClientTokenError.notAToken) { try ClientToken("ghp_" + token) }
    }

    @Test("A token does not show its text when printed or dumped")
    func noDescription() {
        let token = ClientToken.mint()
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), String(describing: [token]), dumped] {
            #expect(!text.contains("privyseal_"))
        }
    }

    @Test(
        "A digest is exactly 64 hexadecimal digits with an optional sha256 prefix",
        arguments: ["", "sha256:", "sha1:", "ab", "g"])
    func digests(_ prefix: String) {
        let digits = String(repeating: "0a", count: 32)
        #expect(Digest256(digits.dropLast() + "G") == nil)
        #expect(Digest256(prefix + digits.dropLast()) == nil)
        #expect((Digest256(prefix + digits) == nil) == !["", "sha256:"].contains(prefix))
        #expect(Digest256(bytes: [UInt8](repeating: 0, count: 31)) == nil)
        #expect(Digest256(bytes: (0..<32).flatMap { _ in [0x0A] })?.description == digits)
    }
}
