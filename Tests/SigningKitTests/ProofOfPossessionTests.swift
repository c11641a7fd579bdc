import Crypto
import SigningKit
import Testing

@Suite("A proof of possession")
struct ProofOfPossessionTests {
    @Test("A proof differs from any JWS or offer text and is new each time")
    func harmless() {
        let prefix = ProofOfPossession.prefix
        #expect(prefix.last == 0, "no signed text of a feature holds a control character")
        #expect(!prefix.starts(with: "eyJ".utf8), "every JWS signing input does")
        #expect(ProofOfPossession().digest != ProofOfPossession().digest)
    }
}
