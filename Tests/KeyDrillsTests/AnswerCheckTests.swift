import Crypto
import Testing

@testable import KeyDrills

@Suite("Checking of load answers")
struct AnswerCheckTests {
    private let samples = Samples()

    @Test("AnswerCheck accepts valid tokens and fields and names their key")
    func served() throws {
        let judge = samples.judge
        #expect(
            judge.judge(.token, status: 200, body: try samples.token("OLDKEY"))
                == .served(keyID: "OLDKEY"))
        #expect(
            judge.judge(.legacy, status: 200, body: try samples.fields("NEWKEY"))
                == .served(keyID: "NEWKEY"))
        let named = LoadRequest.named(keyID: "OLDKEY")
        #expect(
            judge.judge(named, status: 200, body: try samples.fields("OLDKEY", user: "drill"))
                == .served(keyID: "OLDKEY"))
    }

    @Test("A status other than 200 is a failure with that status", arguments: [201, 400, 403, 409, 429, 500, 503])
    func failed(_ status: Int) {
        #expect(samples.judge.judge(.token, status: status, body: []) == .failed("\(status)"))
    }

    @Test("A signature by another key than the named one is wrong")
    func otherSigner() throws {
        let judge = samples.judge
        for (form, body) in [
            (LoadRequest.token, try samples.token("OLDKEY", signer: "NEWKEY")),
            (.legacy, try samples.fields("OLDKEY", signer: "NEWKEY")),
            (.named(keyID: "OLDKEY"), try samples.fields("OLDKEY", signer: "NEWKEY", user: "drill")),
        ] {
            #expect(isWrong(judge.judge(form, status: 200, body: body)), "\(form)")
        }
    }

    @Test("A valid signature by another key than the requested one is wrong")
    func otherName() throws {
        let outcome = samples.judge.judge(
            .named(keyID: "OLDKEY"), status: 200, body: try samples.fields("NEWKEY", user: "drill"))
        #expect(isWrong(outcome))
    }

    @Test("A valid signature for another app or product is wrong")
    func otherSubject() throws {
        for body in [
            try samples.token("OLDKEY", bundleID: "com.example.other"),
            try samples.token("OLDKEY", productID: "com.example.yearly"),
        ] {
            #expect(isWrong(samples.judge.judge(.token, status: 200, body: body)))
        }
    }

    @Test("A signature by a key missing from the key set is wrong")
    func unknownKey() throws {
        let body = try samples.token("OLDKEY")
        #expect(
            isWrong(AnswerCheck(keys: PublicKeys(), bundleID: Samples.bundleID).judge(.token, status: 200, body: body)))
    }

    @Test("An unreadable answer is wrong", arguments: ["", "{}", "[]", #"{"jws":"a.b"}"#, "<html>"])
    func unreadable(_ body: String) {
        #expect(isWrong(samples.judge.judge(.token, status: 200, body: Array(body.utf8))))
    }

    @Test("AnswerCheck does not trust a key ID whose key changes")
    func changedKey() throws {
        var keys = PublicKeys(["OLDKEY": try #require(samples.keys["OLDKEY"]).publicKey])
        let point = Array(try #require(samples.keys["NEWKEY"]).publicKey.rawRepresentation)
        try keys.add(jwks: JWK.set(["OLDKEY": point]))
        #expect(keys.changed == ["OLDKEY"])
        #expect(
            isWrong(
                AnswerCheck(keys: keys, bundleID: Samples.bundleID).judge(
                    .token, status: 200, body: try samples.token("OLDKEY", signer: "NEWKEY"))))
    }

    @Test("A key that left the key set still verifies its signatures")
    func goneKey() throws {
        var keys = PublicKeys()
        let points = samples.keys.mapValues { Array($0.publicKey.rawRepresentation) }
        try keys.add(jwks: JWK.set(points))
        try keys.add(jwks: JWK.set(points.filter { $0.key == "NEWKEY" }))
        #expect(
            AnswerCheck(keys: keys, bundleID: Samples.bundleID).judge(
                .token, status: 200, body: try samples.token("OLDKEY"))
                == .served(keyID: "OLDKEY"))
        #expect(keys.changed.isEmpty)
    }

    private func isWrong(_ outcome: LoadAnswer.Outcome) -> Bool {
        guard case .wronglySigned = outcome else { return false }
        return true
    }
}
