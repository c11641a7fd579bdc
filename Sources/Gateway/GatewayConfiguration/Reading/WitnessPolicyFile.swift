import Crypto
import Encodings
import SigningKit
public import TransparencyLog

/// A policy with witnesses that the gateway can ask (C2SP tlog-policy).
public struct WitnessPolicyFile: Sendable {
    public let policy: WitnessPolicy
    let file: GatewayConfiguration.File
    /// Of the content, so that a reload notices its change.
    private let digest: [UInt8]

    fileprivate init(_ file: GatewayConfiguration.File) throws(InvalidValue) {
        self.file = file
        let bytes: [UInt8]
        do throws(InvalidValue) {
            bytes = try BoundedFile.contents(of: file.path, limit: WitnessPolicy.maximumSize)
        } catch {
            throw InvalidValue("names a file that \(error.sentence)")
        }
        digest = Array(SHA256.hash(data: bytes))
        do throws(WitnessPolicyError) { policy = try WitnessPolicy(parsing: bytes) } catch {
            // The caller adds the full stop.
            throw InvalidValue("names a file that is not a policy of witnesses. \("\(error)".dropLast())")
        }
        try require(
            !policy.needsNone,
            "names a policy with quorum none, which asks no witness; name a witness or group in its quorum line")
        // The signatures of all witnesses are in each checkpoint.
        try require(
            policy.witnesses.count <= 32 && policy.witnesses.allSatisfy { $0.verifier.name.utf8.count <= 255 },
            "names a policy with more than 32 witnesses, or with a name of more than 255 bytes; shorten it")
        let names = Set(policy.witnesses.map { Array($0.verifier.name.utf8) })
        try require(
            names.count == policy.witnesses.count,
            "names a policy in which two witnesses' keys have one name; give each witness a name of its own")
        for witness in policy.witnesses { try Self.checkURL(of: witness) }
    }

    private static func checkURL(of witness: WitnessPolicy.Witness) throws(InvalidValue) {
        let name = witness.verifier.name
        guard let url = witness.url else {
            throw InvalidValue(
                "names a policy in which the witness \(name) has no URL; add its submission prefix at the end of the "
                    + "line, such as \(EndpointURL.witness.example)")
        }
        do throws(InvalidValue) { _ = try EndpointURL.witness.checked(url) } catch {
            throw InvalidValue("names a policy in which the URL of the witness \(name) \(error.sentence)")
        }
    }

    fileprivate var compared: String { "\(file.path) \(Hexadecimal.encode(digest))" }
}

extension SettingKind<WitnessPolicyFile> {
    static var witnessPolicy: Self {
        let path = SettingKind<GatewayConfiguration.File>.file(such: "/etc/privyseal/witnesses.policy")
        return Self(
            values: path.values,
            read: { node, findings in
                guard let file = path.read(node, findings) else { return nil }
                do throws(InvalidValue) { return try WitnessPolicyFile(file) } catch {
                    findings.fault(error.sentence, at: node.origin)
                    return nil
                }
            }, text: { $0.file.path }, compared: { $0.compared })
    }
}
