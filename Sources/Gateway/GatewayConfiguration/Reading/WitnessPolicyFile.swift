import TransparencyLog

/// Reads a policy with witnesses that the gateway can ask (C2SP tlog-policy).
enum WitnessPolicyFile {
    static func read(_ path: String) throws(InvalidValue) -> WitnessPolicy {
        let bytes: [UInt8]
        do throws(InvalidValue) { bytes = try BoundedFile.read(path, limit: WitnessPolicy.maximumSize) } catch {
            throw InvalidValue("names a file that \(error.sentence)")
        }
        let policy: WitnessPolicy
        do throws(WitnessPolicyError) { policy = try WitnessPolicy(parsing: bytes) } catch {
            // The caller adds the full stop.
            throw InvalidValue("names a file that is not a policy of witnesses. \("\(error)".dropLast())")
        }
        try require(
            !policy.needsNone,
            "names a policy with quorum none, which asks no witness; name a witness or group in its quorum line")
        for witness in policy.witnesses {
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
        return policy
    }
}
