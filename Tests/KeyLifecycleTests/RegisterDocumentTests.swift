import Crypto
import KeyLifecycle
import SigningKit
import StrictJSON
import Testing

/// The texts are as earlier versions wrote them. The digests are made with Python's hashlib.
@Suite("Documents in the register of keys")
struct RegisterDocumentTests {
    private static let proposals = [
        (
            #"{"id":"k7mxq2pd","action":"activate","issuerId":"i","keyId":"NEW","details":{"overlap":"3600","#
                + #""retiring":"OLD"},"reason":"x \"y\"","proposer":"alice","proposerProofs":["a1"],"proposed":"20"#
                + #"26-11-21T12:00:00.000Z","expires":"2026-11-22T12:00:00.000Z","digest":"sha256:27f3dbcced314255"#
                + #"ca4ad86faeab2b109409769df62670ec7ad810b384a10909","laterProofs":["b2"],"approver":"bob","appro"#
                + #"verProofs":["c3"]}"#,
            "sha256:27f3dbcced314255ca4ad86faeab2b109409769df62670ec7ad810b384a10909"
        ),
        (
            #"{"id":"k","action":"destroy","issuerId":"i","keyId":"OLD","reason":"x","proposer":"alice","pro"#
                + #"poserProofs":[],"proposed":"2026-11-21T12:00:00.000Z","expires":"2026-11-22T12:00:00.000Z","di"#
                + #"gest":"sha256:503473063f224cc7bfac996d4b693fceec0e08f52a17ef249cd911ac5e8aacb3"}"#,
            "sha256:503473063f224cc7bfac996d4b693fceec0e08f52a17ef249cd911ac5e8aacb3"
        ),
    ]

    @Test("a stored proposal keeps its bytes and its digest", arguments: proposals)
    func proposal(text: String, digest: String) throws {
        let proposal: KeyProposal = try Self.read(text)
        #expect(proposal.digest == digest)
        #expect(JSONText.string(proposal) == text)
    }

    @Test("a stored record keeps its bytes")
    func record() throws {
        let text =
            #"{"issuerId":"i","keyId":"OLD","state":"suspended","suspendedFrom":"active","since":"2026-11-21"#
            + #"T12:00:00.000Z","retireAt":"2026-11-23T12:00:00.000Z","provenance":"imported","fingerprint":"s"#
            + #"ha256:abababababababababababababababababababababababababababababababab","compromisedAt":"2026-"#
            + #"11-20T12:00:00.000Z","restoredAt":"2026-11-21T12:00:00.000Z","omitted":2,"history":[{"at":"202"#
            + #"6-11-21T12:00:00.000Z","action":"suspend","from":"active","to":"suspended","actor":"ann","appr"#
            + #"over":"bob","reason":"x","retireAt":"2026-11-23T12:00:00.000Z","evidence":{"a":"1","b":"2"}},{"#
            + #""at":"2026-11-21T12:00:00.000Z","action":"adopt","to":"staged","actor":"gateway","reason":"y"}"#
            + #"]}"#
        #expect(JSONText.string(try Self.read(text) as KeyLifecycleRecord) == text)
    }

    @Test("a stored provisioning job keeps its bytes")
    func job() throws {
        let text =
            #"{"id":"j","action":"import","issuerId":"i","keyId":"NEW","uri":"pkcs11:token=a","fingerprint":"#
            + #""sha256:abababababababababababababababababababababababababababababababab","reason":"x","actor""#
            + #":"ann","approver":"bob","approverProofs":["b"],"worker":"ann","workerProofs":["a"],"begun":"20"#
            + #"26-11-21T12:00:00.000Z","report":{"succeeded":true,"fingerprint":"sha256:ababababababababababa"#
            + #"bababababababababababababababababababababab","evidence":{"method":"unwrap"}}}"#
        #expect(JSONText.string(try Self.read(text) as ProvisioningJob) == text)
    }

    @Test("in a job of an earlier version, the person who ordered it is the worker")
    func worker() throws {
        let job: ProvisioningJob = try Self.read(
            #"{"id":"j","action":"import","issuerId":"i","keyId":"NEW","uri":"pkcs11:token=a","reason":"x","#
                + #""actor":"ann","begun":"2026-11-21T12:00:00.000Z"}"#)
        #expect(job.worker == "ann" && job.workerProofs.isEmpty && job.approverProofs.isEmpty)
    }

    private static func read<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDocument(parsing: Array(text.utf8)).root.decode()
    }
}
