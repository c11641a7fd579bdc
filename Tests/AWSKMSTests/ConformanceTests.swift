import Foundation
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@testable import AWSKMS

@Suite("Conformance of the AWS KMS backend", .serialized, .timeLimit(.minutes(2)))
struct ConformanceTests {
    @Test("AWS KMS meets the key backend contract")
    func conformance() async throws {
        // The contract opens the backend as the gateway does: with the environment of the process.
        setenv("AWS_ACCESS_KEY_ID", "AKIDTEST", 1)
        setenv("AWS_SECRET_ACCESS_KEY", "secret-access-key", 1)
        let test = try await TestBackend()
        test.kms.add("KEY")
        test.kms.add("RSA") { $0.spec = "RSA_2048" }
        test.kms.add("MAC") { $0.usage = "KEY_AGREEMENT" }
        try await KeyBackendConformance<AWSKMSBackend>(
            uri: test.uri("alias/KEY"),
            settings: ["timeout": .integer(20)],
            secrets: NoSecrets(),
            custody: .service,
            missingKeys: [test.uri("alias/NONE"), test.uri("1234abcd-12ab-34cd-56ef-1234567890ab")],
            ambiguousKeys: .lacks("a key ID and an alias each name one key"),
            misconfigurations: [
                Misconfiguration("awskms:alias/KEY", .invalidURI, mentions: "the region"),
                Misconfiguration(test.uri("alias/KEY") + "&region=x", .invalidURI, mentions: "belongs in the path"),
                Misconfiguration(test.uri("alias/RSA"), .unfit, mentions: "RSA_2048"),
                Misconfiguration(test.uri("alias/MAC"), .unfit, mentions: "KEY_AGREEMENT"),
                Misconfiguration(
                    test.uri("alias/KEY"), settings: ["proofInterval": .integer(1)], .invalidSetting,
                    mentions: "from 10"),
            ],
            queue: .has(
                .init(settings: ["connections": .integer(1), "queueLimit": .integer(4), "timeout": .integer(20)])),
            custodyProof: .has { try Self.noAnswerRevealsAKey() },
            confidential: ["secret-access-key"]
        ).run()
        try await test.server.close()
    }

    /// KMS has no call that returns a private key: no answer of the used calls has a member for one.
    private static func noAnswerRevealsAKey() throws {
        let shapes = try Shapes()
        let members = Set(shapes.calls.flatMap { $0.answer.keys })
        let harmless: Set = [
            "KeyMetadata", "KeyId", "PublicKey", "CustomerMasterKeySpec", "KeySpec", "KeyUsage", "EncryptionAlgorithms",
            "SigningAlgorithms", "KeyAgreementAlgorithms", "Signature", "SigningAlgorithm", "ImportToken",
            "ParametersValidTo", "KeyMaterialId", "DeletionDate", "KeyState", "PendingWindowInDays",
        ]
        #expect(members.subtracting(harmless) == [])
    }

    private struct NoSecrets: SecretSource {
        func secret(_ reference: String) throws(KeyError) -> Secret {
            throw .secretUnavailable("The backend asks for no secret.")
        }
    }
}

/// The model of the KMS API.
struct Shapes: Decodable {
    struct Call: Decodable, CustomTestStringConvertible, Sendable {
        struct Member: Decodable, Sendable {
            let type: String
            let values: [String]
        }

        let name, target: String
        let required: [String]
        let members: [String: Member]
        let answer: [String: String]

        var testDescription: String { name }
    }

    let version: String
    let calls: [Call]
    let metadata: [String: String]

    init() throws {
        self = try JSONDocument(parsing: Vectors.bytes("shapes")).root.decode()
    }
}

@Suite("The calls of the KMS API")
struct CallTests {
    @Test("each request has the members, and the values, of AWS's model")
    func requests() throws {
        let shapes = try Shapes()
        let requests: [any KMSCall] = [
            DescribeKey(keyID: "k"), GetPublicKey(keyID: "k"), Sign(keyID: "k", message: "AA=="),
            CreateKey(origin: "EXTERNAL", description: "d"), CreateKey(origin: "AWS_KMS", description: "d"),
            CreateAlias(alias: "alias/a", keyID: "k"), UpdateKeyDescription(keyID: "k", description: "d"),
            GetParametersForImport(keyID: "k", algorithm: .oaep),
            GetParametersForImport(keyID: "k", algorithm: .oaepAndKeyWrap),
            ImportKeyMaterial(keyID: "k", importToken: "AA==", encryptedKeyMaterial: "AA=="),
            DeleteImportedKeyMaterial(keyID: "k"), ScheduleKeyDeletion(keyID: "k", window: 7),
        ]
        #expect(Set(requests.map { type(of: $0).name }) == Set(shapes.calls.map(\.name)))
        for request in requests { try check(request, shapes) }
    }

    private func check(_ request: some KMSCall, _ shapes: Shapes) throws {
        let call = try #require(shapes.calls.first { $0.name == type(of: request).name })
        #expect(call.target == "TrentService.\(call.name)")
        let sent = try JSONDocument(parsing: JSONText.encode(request)).root.anyObject()
        #expect(Set(sent.names).isSuperset(of: call.required), "\(call.name)")
        for (name, value) in sent.members {
            let member = try #require(call.members[name], "\(call.name) has no \(name)")
            #expect(member.type == "integer" ? value.kind == .number : value.kind == .string, "\(call.name).\(name)")
            if !member.values.isEmpty { #expect(try member.values.contains(value.string()), "\(call.name).\(name)") }
        }
    }

    @Test("the protocol is AWS's JSON 1.1")
    func version() throws { #expect(try Shapes().version == "1.1") }

    @Test("the inspected members exist in AWS's model")
    func metadata() throws {
        let metadata = try JSONDocument(
            parsing: Array(
                #"{"Arn":"a","KeyId":"k","KeyState":"Enabled","KeyManager":"CUSTOMER","CreationDate":1.5}"#.utf8)
        ).root.decode(KMSKeyMetadata.self)
        let known = Set(try Shapes().metadata.keys)
        #expect(metadata.attributes.allSatisfy { known.contains($0.name) })
        #expect(metadata.attributes.contains(.init("CreationDate", "1970-01-01T00:00:01.500Z")))
    }
}
