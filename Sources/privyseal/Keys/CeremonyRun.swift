import ArgumentParser
import Crypto
import GatewayConfiguration
import KeyTransport
import SigningGateway
import SigningKit
import StrictJSON

/// Work on a token between two entries in the register: `begin` before, `finish` after.
struct CeremonyRun {
    let desk: any KeyDesk
    let ceremony: KeyCeremony
    /// Whether it had begun before and not ended.
    let isResumed: Bool

    /// - Throws: a status, already said.
    static func begin(
        _ option: KeyDeskOption, _ order: KeyCeremonyOrder, _ output: OutputOption
    ) async throws -> CeremonyRun? {
        try await option.ask { desk in
            let open = try await desk.overview().ceremonies.first {
                $0.keyID == order.keyID && $0.issuerID == order.issuerID && $0.action == order.action
            }
            if let open {
                let begun = String(decoding: open.begun.rfc3339, as: UTF8.self)
                StandardError.print("This had begun at \(begun) and did not end; it goes on.")
            }
            switch try await desk.begin(order) {
            case .begun(let ceremony): return CeremonyRun(desk: desk, ceremony: ceremony, isResumed: open != nil)
            case .proposed(let proposal):
                if output.format == .json {
                    let answer = KeyCeremonyAnswer.proposed(proposal)
                    print(String(decoding: answer.jsonBytes(capacity: 512), as: UTF8.self))
                } else {
                    print(
                        "Proposed as \(proposal.id); nothing was done on the token. Another administrator approves it with "
                            + "privyseal keys approve \(proposal.id) --digest \(proposal.digest); then the same command again "
                            + "does it.")
                }
                return nil
            }
        }
    }

    /// Does the work, and has the register know how it ended.
    ///
    /// - Parameter lackedPublicKey: the public key, if the token does not hold it.
    /// - Returns: what the work gave, and the key's record; nil while the gateway has not seen the key.
    func perform<Result>(
        _ work: () async throws -> Result, evidence: (Result) -> (PublicKeyFingerprint?, [String: String]),
        lackedPublicKey: (Result) -> P256.Signing.PublicKey? = { _ in nil }
    ) async throws -> (Result, KeyLifeRecord?) {
        let result: Result
        do { result = try await work() } catch {
            let end = KeyCeremonyEnd(
                isSuccess: false, fingerprint: ceremony.fingerprint, evidence: ["failure": "\(error)"])
            _ = try? await desk.finish(ceremony.id, end.shortened())
            throw StandardError.failure("\(error)")
        }
        let (fingerprint, facts) = evidence(result)
        do {
            var end = KeyCeremonyEnd(isSuccess: true, fingerprint: fingerprint, evidence: facts)
            if let publicKey = lackedPublicKey(result) {
                // Before the register is told: the key is of no use without it, also when the register refuses.
                StandardError.print("The public key, for publicKeyFile:")
                StandardError.print(PEM.text("PUBLIC KEY", Array(publicKey.derRepresentation)))
                end = end.with(publicKey)
            }
            switch try await desk.finish(ceremony.id, end.shortened()) {
            case .ended(let record): return (result, record)
            case .waiting: return (result, nil)
            }
        } catch {
            throw StandardError.failure(
                "The work on the token is done, but the register could not be told: \(error) Run the same command "
                    + "again; it finds what is done.")
        }
    }
}

extension KeyDeskOption {
    /// `--issuer`, or the only account that there is.
    func issuer(_ given: String?) async throws -> String {
        if let given { return given }
        let all =
            if let path = admin.configuration {
                try ConfigurationOption.load(path).accounts.map(\.issuerID)
            } else {
                try await ask { desk in try await desk.overview().accounts.map(\.issuerID) }
            }
        guard all.count == 1 else {
            throw StandardError.failure(
                "There are \(all.count) accounts; say which one with --issuer: \(all.joined(separator: ", ")).",
                status: 64)
        }
        return all[0]
    }
}

/// What a ceremony leaves in the register, by name.
enum CeremonyEvidence {
    static func of(_ token: KeyBackendReport.Token) -> [String: String] {
        [
            "tokenLabel": token.label, "tokenSerial": token.serial, "tokenModel": token.model,
            "tokenManufacturer": token.manufacturer, "tokenFirmware": token.firmware,
        ]
    }

    static func of(_ key: PlacedKey, on token: KeyBackendReport.Token) -> [String: String] {
        var facts = of(token)
        facts["method"] = key.method.rawValue
        facts["proof"] = "signed"
        facts["CKA_LABEL"] = key.label
        facts["CKA_ID"] = hexadecimal(key.id)
        for (name, value) in key.attributes { facts[name] = value }
        return facts
    }

    static func of(_ key: DestroyedKey, on token: KeyBackendReport.Token) -> [String: String] {
        var facts = of(token)
        facts["destroyedPrivateObjects"] = "\(key.destroyedPrivate)"
        facts["destroyedPublicObjects"] = "\(key.destroyedPublic)"
        facts["lookedForBy"] = "CKA_LABEL, CKA_ID, CKA_EC_POINT"
        facts["objectsLeft"] = "0"
        facts["CKA_LABEL"] = key.label
        facts["CKA_ID"] = hexadecimal(key.id)
        return facts
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
