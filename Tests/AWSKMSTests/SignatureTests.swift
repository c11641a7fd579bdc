import SigningKit
import StrictJSON
import Testing

@testable import AWSKMS

@Suite("Signature Version 4")
struct SignatureTests {
    struct Vector: Decodable, CustomTestStringConvertible, Sendable {
        struct Header: Decodable, Sendable {
            let name, value: String
        }

        let name, accessKeyId, secretAccessKey, region, service: String
        let sessionToken: String?
        let time: Timestamp
        let host, body, authorization: String
        let headers: [Header]

        var testDescription: String { name }
    }

    private struct File: Decodable {
        let cases: [Vector]
    }

    static let vectors: [Vector] = {
        guard let document = try? JSONDocument(parsing: Vectors.bytes("signatures")),
            let file: File = try? document.root.decode()
        else { return [] }
        return file.cases
    }()

    @Test("there are vectors of AWS's test suite, of KMS and of STS")
    func file() { #expect(Self.vectors.count == 6) }

    @Test("the header is the one that AWS's library makes", arguments: vectors)
    func authorization(_ vector: Vector) throws {
        let credentials = try AWSCredentials(
            accessKeyID: vector.accessKeyId, secretAccessKey: vector.secretAccessKey,
            sessionToken: vector.sessionToken, source: "a test")
        let headers = [("Host", vector.host)] + vector.headers.map { ($0.name, $0.value) }
        let signed = SignatureV4(
            credentials: credentials, region: vector.region, service: vector.service, time: vector.time
        ).signed(headers, Array(vector.body.utf8))
        #expect(signed.last?.name == "Authorization")
        #expect(signed.last?.value == vector.authorization)
        #expect(signed.first { $0.name == "X-Amz-Security-Token" }?.value == vector.sessionToken)
    }

    @Test("a change of the body, the time, a header or a key changes the signature")
    func changes() throws {
        func signature(
            _ body: String = "{}", _ milliseconds: Int64 = 0, _ target: String = "Sign", _ secret: String = "secret"
        ) throws -> String? {
            let credentials = try AWSCredentials(
                accessKeyID: "AKID", secretAccessKey: secret, sessionToken: nil, source: "a test")
            return SignatureV4(
                credentials: credentials, region: "eu-west-1", service: "kms",
                time: Timestamp(milliseconds: milliseconds)
            ).signed([("Host", "kms"), ("X-Amz-Target", target)], Array(body.utf8)).last?.value
        }
        let all = [
            try signature(), try signature("{ }"), try signature("{}", 1000), try signature("{}", 0, "Other"),
            try signature("{}", 0, "Sign", "other"),
        ]
        #expect(Set(all).count == all.count)
    }

    @Test("no text and no dump shows the secret or the session token")
    func secrecy() throws {
        let credentials = try AWSCredentials(
            accessKeyID: "AKID", secretAccessKey: "very-secret", sessionToken: "very-long-token", source: "a test")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in [dumped, "\(credentials)", String(reflecting: credentials)] {
            #expect(!text.contains("very-"))
        }
    }
}
