import Crypto
import KeyDrills
import Testing

@Suite("What an answer is taken for")
struct JudgeTests {
    private let samples = Samples()

    @Test("A token, fields, and fields by name that verify are served, by the key that they name")
    func served() throws {
        let judge = samples.judge
        #expect(
            judge.judge(Samples.request(.token), status: 200, body: try samples.token("OLDKEY"))
                == .served(keyID: "OLDKEY"))
        #expect(
            judge.judge(Samples.request(.legacy), status: 200, body: try samples.fields("NEWKEY"))
                == .served(keyID: "NEWKEY"))
        let named = Samples.request(.named(keyID: "OLDKEY"))
        #expect(
            judge.judge(named, status: 200, body: try samples.fields("OLDKEY", user: "drill"))
                == .served(keyID: "OLDKEY"))
    }

    @Test("Any status but 200 is a failure of that status", arguments: [201, 400, 403, 409, 429, 500, 503])
    func failed(_ status: Int) {
        #expect(samples.judge.judge(Samples.request(.token), status: status, body: []) == .failed("\(status)"))
    }

    @Test("A signature of another key than the named one is wrong")
    func otherSigner() throws {
        let judge = samples.judge
        for (form, body) in [
            (LoadRequest.Form.token, try samples.token("OLDKEY", signer: "NEWKEY")),
            (.legacy, try samples.fields("OLDKEY", signer: "NEWKEY")),
            (.named(keyID: "OLDKEY"), try samples.fields("OLDKEY", signer: "NEWKEY", user: "drill")),
        ] {
            #expect(isWrong(judge.judge(Samples.request(form), status: 200, body: body)), "\(form)")
        }
    }

    @Test("A good signature of a key that was not asked for by name is wrong")
    func otherName() throws {
        let outcome = samples.judge.judge(
            Samples.request(.named(keyID: "OLDKEY")), status: 200, body: try samples.fields("NEWKEY", user: "drill"))
        #expect(isWrong(outcome))
    }

    @Test("A good signature for another app or product is wrong")
    func otherSubject() throws {
        for body in [
            try samples.token("OLDKEY", bundleID: "com.example.other"),
            try samples.token("OLDKEY", productID: "com.example.yearly"),
        ] {
            #expect(isWrong(samples.judge.judge(Samples.request(.token), status: 200, body: body)))
        }
    }

    @Test("A signature of a key that the key set does not show is wrong, and asks for the key set")
    func unknownKey() throws {
        let judge = AnswerJudge(PublicKeys())
        let body = try samples.token("OLDKEY")
        #expect(judge.isAmiss(Samples.request(.token), body: body))
        #expect(!samples.judge.isAmiss(Samples.request(.token), body: body))
        #expect(isWrong(judge.judge(Samples.request(.token), status: 200, body: body)))
    }

    @Test("What cannot be read is wrong, and not served", arguments: ["", "{}", "[]", #"{"jws":"a.b"}"#, "<html>"])
    func unreadable(_ body: String) {
        #expect(isWrong(samples.judge.judge(Samples.request(.token), status: 200, body: Array(body.utf8))))
    }

    @Test("An ID that comes to stand for another key is not believed")
    func changedKey() throws {
        var keys = PublicKeys(["OLDKEY": try #require(samples.keys["OLDKEY"]).publicKey])
        let point = Array(try #require(samples.keys["NEWKEY"]).publicKey.rawRepresentation)
        try keys.add(jwks: JWK.set(["OLDKEY": point]))
        #expect(keys.changed == ["OLDKEY"])
        #expect(
            isWrong(
                AnswerJudge(keys).judge(
                    Samples.request(.token), status: 200, body: try samples.token("OLDKEY", signer: "NEWKEY"))))
    }

    @Test("A key that the key set does not show any more still judges what it signed")
    func goneKey() throws {
        var keys = PublicKeys()
        let points = samples.keys.mapValues { Array($0.publicKey.rawRepresentation) }
        try keys.add(jwks: JWK.set(points))
        try keys.add(jwks: JWK.set(points.filter { $0.key == "NEWKEY" }))
        #expect(
            AnswerJudge(keys).judge(Samples.request(.token), status: 200, body: try samples.token("OLDKEY"))
                == .served(keyID: "OLDKEY"))
        #expect(keys.changed.isEmpty)
    }

    private func isWrong(_ outcome: LoadAnswer.Outcome) -> Bool {
        guard case .wronglySigned = outcome else { return false }
        return true
    }
}
