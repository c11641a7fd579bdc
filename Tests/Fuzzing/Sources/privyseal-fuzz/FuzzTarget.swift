import AdvancedCommerce
import AuditKit
import ComplianceReport
import Crypto
import Encodings
import GatewayConfiguration
import JWS
import KeyTransport
import PKCS11Token
import PromotionalOffer
import SigningKit
import StrictJSON
import TransparencyLog

@testable import P8
@testable import SignatureExplanation
@testable import WorkloadIdentities

/// A reader of untrusted bytes. Its corpus is the directory of the same name in `Tests/Fuzzing/Corpus`.
enum FuzzTarget: String, CaseIterable {
    case http, identities, json, keys, notes, signatures, uris, witnesses, wrapped, yaml

    /// The reader may refuse an input, but not crash. An accepted input must have exactly one meaning.
    func read(_ bytes: [UInt8]) throws(FuzzFault) {
        switch self {
        case .http: try HTTPHeadTarget.read(bytes)
        case .identities: Self.identities(bytes)
        case .json: try Self.json(bytes)
        case .keys: try Self.keys(bytes)
        case .notes: try Self.notes(bytes)
        case .signatures: try Self.signatures(bytes)
        case .uris: Self.uris(bytes)
        case .witnesses: try Self.witnesses(bytes)
        case .wrapped: try Self.wrapped(bytes)
        case .yaml: Self.yaml(bytes)
        }
    }

    static func require(_ condition: Bool, _ sentence: String) throws(FuzzFault) {
        if !condition { throw FuzzFault(sentence: sentence) }
    }

    // MARK: JSON

    private static func json(_ bytes: [UInt8]) throws(FuzzFault) {
        guard let document = try? JSONDocument(parsing: bytes) else { return }
        try visit(document.root)
    }

    private static func visit(_ value: JSONValue) throws(FuzzFault) {
        switch value.kind {
        case .object:
            guard let object = try? value.anyObject() else { return }
            for name in object.names {
                guard let member = object[name] else {
                    throw FuzzFault(sentence: "a member that is listed is not found")
                }
                try visit(member)
            }
        case .array: for element in (try? value.elements()) ?? [] { try visit(element) }
        default:
            _ = try? value.string()
            _ = try? value.integer()
            _ = try? value.boolean()
        }
    }

    // MARK: PEM and DER

    private static func keys(_ bytes: [UInt8]) throws(FuzzFault) {
        let file = KeyFile(path: "fuzz", allowsSharing: false, passphraseSource: nil, secrets: AbsentSecrets())
        if let content = SecureBytes(capacity: bytes.count) {
            content.fill { room in
                room.copyBytes(from: bytes)
                return bytes.count
            }
            if let key = try? file.key(from: content) {
                try require((try? P8Key(key)) != nil, "a key file that is accepted has a point that is not")
            }
        }
        for key in (try? CandidateKey.read(bytes, label: "fuzz")) ?? [] { _ = key.fingerprint }
        if let key = P256.Signing.PublicKey(subjectPublicKeyInfo: bytes) {
            try require(
                bytes.count == 59 || key.derRepresentation.elementsEqual(bytes),
                "a SubjectPublicKeyInfo that is accepted is not the key's")
        }
        if let signature = P256Signature(derRepresentation: bytes.span) {
            try require(signature.derRepresentation == bytes, "a signature in DER has two forms")
        }
        _ = P256Signature(lenientDER: bytes)
    }

    private struct AbsentSecrets: SecretSource {
        func secret(_ reference: String) throws(KeyError) -> Secret { throw .secretUnavailable("There is none.") }
    }

    // MARK: Notes and proofs

    private static func notes(_ bytes: [UInt8]) throws(FuzzFault) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let note = try? SignedNote(parsing: bytes) { _ = try? Checkpoint(parsing: note.text) }
        var scanner = NoteScanner()
        scanner.read(bytes[...]) { _ in }
        _ = try? Checkpoint(parsing: text)
        if let verifier = try? NoteVerifier(text) {
            try require(verifier.text == text, "a verifier key has two forms")
        }
        _ = try? NoteSigner(text)
        if let proof = try? InclusionProofDocument(parsing: bytes) { _ = try? proof.check(with: verifiers) }
        if let proof = try? ConsistencyProofDocument(parsing: bytes) { _ = try? proof.check(with: verifiers) }
        if let report = try? SignedReport(parsing: bytes) { _ = try? report.verify(with: verifiers, page: nil) }
    }

    /// The key of docs/audit-example, so that the signatures of its proofs are valid.
    private static let verifiers: [NoteVerifier] =
        (try? NoteVerifier("example.com/privyseal/shop-1+86994de6+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4")).map {
            [$0]
        } ?? []

    // MARK: Signatures for verify

    private static let features = [PromotionalOffer.descriptor, AdvancedCommerce.descriptor]

    private static func signatures(_ bytes: [UInt8]) throws(FuzzFault) {
        _ = try? CompactJWS(parsing: bytes)
        if let decoded = Base64.standard.decode(bytes) {
            try require(Base64.standard.encode(decoded) == bytes, "a text in Base64 has two forms")
        }
        let examiner = SignatureExaminer(keys: candidates, features: features, now: now, maximumVerifications: 50)
        _ = examiner.examine(token: bytes, app: "com.example.app", isSearching: true)
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == 8 else { return }
        let answer = LegacyAnswer(
            bundleID: parts[0], keyID: parts[1], productID: parts[2], offerID: parts[3],
            user: .applicationUsername(parts[4]), nonce: parts[5], timestamp: parts[6], signature: parts[7])
        _ = examiner.examine(answer, isSearching: true)
    }

    private static let now = Timestamp(milliseconds: 1_760_000_000_000)

    /// The base point of P-256, whose private key is 1.
    private static let candidates: [CandidateKey] = {
        let point: [UInt8] = [
            0x03, 0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
            0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
        ]
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: point) else { return [] }
        return [CandidateKey(keyID: "2X9R4HXF34", label: "fuzz", publicKey: key)]
    }()

    // MARK: URIs of keys

    private static func uris(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let uri = try? KeyURI(text) else { return }
        _ = try? P8Backend.address(of: uri)
        _ = try? PKCS11TokenBackend.address(of: uri)
    }

    // MARK: Wrapped keys

    private static func wrapped(_ bytes: [UInt8]) throws(FuzzFault) {
        guard let package = try? KeyPackage(parsing: bytes) else { return }
        guard let again = try? KeyPackage(parsing: JSONText.encode(package)) else {
            throw FuzzFault(sentence: "a package that is written cannot be read")
        }
        try require(again.key == package.key, "a package changes when it is written")
    }

    // MARK: Workload identities

    /// A JWK set, or a JWT.
    private static func identities(_ bytes: [UInt8]) {
        if let keys = try? KeySet(bytes) { _ = keys.keys.map(\.keyID) }
        _ = try? WorkloadToken(String(decoding: bytes, as: UTF8.self))
    }

    // MARK: Witnesses

    /// A policy, or a request for a cosignature.
    private static func witnesses(_ bytes: [UInt8]) throws(FuzzFault) {
        if let policy = try? WitnessPolicy(parsing: bytes) {
            try require(
                policy.needsNone || !policy.isMet(by: []), "a policy with a quorum is met by no witness")
        }
        guard let request = AddCheckpointRequest(parsing: bytes) else { return }
        try require(
            AddCheckpointRequest(parsing: Array(request.text.utf8)) == request, "a request changes when it is written")
        for signature in request.note.signatures { _ = Cosignature(signature.bytes) }
    }

    // MARK: Configuration

    private static func yaml(_ bytes: [UInt8]) {
        _ = try? GatewayConfiguration.read(
            bytes, name: "gateway.yaml", environment: [:],
            features: ["legacy-promotional-offer", "promotional-offer", "introductory-offer-eligibility"],
            featureSettings: [], backends: [P8Backend.self, PKCS11TokenBackend.self])
    }
}
