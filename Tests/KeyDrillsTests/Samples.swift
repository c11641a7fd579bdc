import Crypto
import Encodings
import Foundation
import JWS
import SigningKit
import Testing

@testable import KeyDrills

/// Answers like those of a gateway, which the test signs itself.
struct Samples {
    static let bundleID = "com.example.app"

    let keys: [String: P256.Signing.PrivateKey] = ["OLDKEY": .init(), "NEWKEY": .init()]

    var judge: AnswerCheck { AnswerCheck(keys: PublicKeys(keys.mapValues(\.publicKey)), bundleID: Self.bundleID) }

    /// - Parameter signer: the ID of the key that signs; any key but `keyID` makes a wrong signature.
    func token(
        _ keyID: String, signer: String? = nil, bundleID: String = bundleID, productID: String = LoadRequest.productID
    ) throws -> [UInt8] {
        let header = #"{"alg":"ES256","kid":"\#(keyID)","typ":"JWT"}"#
        let payload = #"{"bid":"\#(bundleID)","productId":"\#(productID)","offerIdentifier":"\#(LoadRequest.offerID)"}"#
        let input = CompactJWS.signingInput(header: Array(header.utf8), payload: Array(payload.utf8))
        let signature = try #require(keys[signer ?? keyID]).signature(for: input)
        let token = String(
            decoding: CompactJWS.serialized(input, signature: Array(signature.rawRepresentation).span), as: UTF8.self)
        return Array(#"{"jws":"\#(token)","keyId":"\#(keyID)","nonce":"n","issuedAt":1}"#.utf8)
    }

    func fields(_ keyID: String, signer: String? = nil, user: String = "") throws -> [UInt8] {
        let nonce = "0d411100-0000-4000-8000-00000000000a"
        let input = [Self.bundleID, keyID, LoadRequest.productID, LoadRequest.offerID, user, nonce, "1700000000000"]
            .joined(separator: "\u{2063}")
        let signature = try #require(keys[signer ?? keyID]).signature(for: Array(input.utf8))
        let text = String(decoding: Base64.standard.encode(Array(signature.derRepresentation)), as: UTF8.self)
        return Array(
            #"{"keyIdentifier":"\#(keyID)","nonce":"\#(nonce)","timestamp":1700000000000,"signature":"\#(text)"}"#.utf8)
    }

    // MARK: Records

    static func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_763_726_400_000 + milliseconds) }

    static func answer(_ begun: Int64, _ outcome: LoadAnswer.Outcome, lasting: Int64 = 5) -> LoadAnswer {
        LoadAnswer(begun: time(begun), ended: time(begun + lasting), outcome: outcome)
    }

    static func load(served: Int = 10, failed: Int = 0, unexcused: Int = 0, wrong: Int = 0) -> LoadSummary {
        LoadSummary(
            served: served, failed: failed, failedUnexcused: unexcused, wronglySigned: wrong, byKey: ["OLDKEY": served],
            byReason: failed > 0 ? ["503": failed] : [:], intervalMs: 100,
            intervals: [
                LoadSummary.Interval(at: time(0), served: served, failed: failed, byKey: ["OLDKEY": served])
            ])
    }

    static func step(_ verdict: DrillVerdict = .passed) -> DrillStep {
        DrillStep(
            title: "Ask <\"why\">", expected: "It answers.", actual: "It did & more.", begun: time(10), ended: time(20),
            verdict: verdict)
    }

    static func record(
        begun: Int64 = 0, scenario: DrillScenario = .compromise, steps: [DrillStep] = [step()],
        load: LoadSummary = load(), timings: DrillTimings = DrillTimings(detection: 3, recovery: 40),
        deviations: [String] = []
    ) -> DrillRecord {
        var gateway = DrillRecord.Gateway(address: "unix:/run/x", isTemporary: true)
        (gateway.version, gateway.configuration) = ("0.1.0", "abc")
        var record = DrillRecord(
            scenario, isPlanned: true, participants: [.init(name: "Ann", role: "key custodian")], gateway: gateway,
            begun: time(begun))
        record.ended = time(begun + 1000)
        (record.steps, record.timings, record.load, record.deviations) = (steps, timings, load, deviations)
        record.proofs = [.init(kind: "proof of possession", subject: "NEWKEY", detail: "fingerprint", at: time(5))]
        record.audit = .init(first: 3, last: 9, checkpoint: "origin\n10\nroot\n\n— key sig\n")
        record.keys.old = "OLDKEY"
        record.keys.states = [.init(keyID: "OLDKEY", state: "active", begin: time(begun), end: time(begun + 500))]
        return record
    }
}
