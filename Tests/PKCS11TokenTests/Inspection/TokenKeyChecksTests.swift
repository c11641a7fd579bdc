import SigningKit
import Testing

@testable import PKCS11
@testable import PKCS11Token

@Suite("Compliance checks of a key on a token")
struct TokenKeyChecksTests {
    private static let provenanceAttributes = [
        "CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE", "CKA_KEY_GEN_MECHANISM",
    ]

    @Test("a correct key passes the checks for its provenance", arguments: [KeyProvenance.imported, .generated])
    func good(_ provenance: KeyProvenance) {
        let bad = checks(provenance).values.filter { $0.result == .fail || $0.result == .unavailable }
        #expect(bad.isEmpty, "\(bad.map(\.id))")
    }

    @Test("a key fails if its attributes contradict its recorded provenance")
    func provenance() {
        for name in Self.provenanceAttributes {
            #expect(checks(.generated, key(.imported))["attribute.\(name)"]?.result == .fail, "\(name)")
            #expect(checks(.imported, key(.generated))["attribute.\(name)"]?.result == .fail, "\(name)")
        }
    }

    @Test("provenance attributes pass for a generated key, and are not applicable to an imported one")
    func importedIsFalse() {
        for name in Self.provenanceAttributes {
            #expect(checks(.imported)["attribute.\(name)"]?.result == .notApplicable, "\(name)")
            #expect(checks(.generated)["attribute.\(name)"]?.result == .pass, "\(name)")
            #expect(checks(.unknown, key(.imported))["attribute.\(name)"]?.result == .unavailable, "\(name)")
        }
    }

    @Test(
        "a single wrong attribute fails",
        arguments: [
            ("CKA_EXTRACTABLE", "TRUE"), ("CKA_SENSITIVE", "FALSE"), ("CKA_PRIVATE", "FALSE"), ("CKA_TOKEN", "FALSE"),
            ("CKA_SIGN", "FALSE"), ("CKA_DECRYPT", "TRUE"), ("CKA_UNWRAP", "TRUE"), ("CKA_DERIVE", "TRUE"),
            ("CKA_SIGN_RECOVER", "TRUE"), ("CKA_EC_PARAMS", "P-384"), ("CKA_KEY_TYPE", "CKK_RSA"),
            ("CKA_MODIFIABLE", "TRUE"), ("CKA_ID", ""), ("CKA_LABEL", ""),
        ])
    func attribute(_ name: String, _ value: String) {
        let check = checks(.imported) { $0.set(name, value) }["attribute.\(name)"]
        #expect(check?.result == .fail && check?.value == value)
    }

    @Test(
        "the mechanism check passes for ECDSA mechanisms only",
        arguments: [
            ("CKM_ECDSA", ComplianceCheck.Result.pass), ("CKM_ECDSA CKM_ECDSA_SHA256", .pass), ("any", .notApplicable),
            ("CKM_ECDSA_SHA256", .fail), ("CKM_ECDSA CKM_ECDH1_DERIVE", .fail), ("", .fail),
        ])
    func mechanisms(_ value: String, _ result: ComplianceCheck.Result) {
        let checks = checks(.imported) { $0.set("CKA_ALLOWED_MECHANISMS", value) }
        #expect(checks["attribute.CKA_ALLOWED_MECHANISMS"]?.result == result)
    }

    @Test("an attribute without an expectation is not applicable")
    func told() {
        let check = checks(.imported) { $0.set("CKA_COPYABLE", "TRUE") }["attribute.CKA_COPYABLE"]
        #expect(check?.value == "TRUE" && check?.result == .notApplicable)
    }

    @Test("an attribute that the token does not report is unavailable")
    func untold() {
        let check = checks(.imported) { $0.set("CKA_EXTRACTABLE", nil) }["attribute.CKA_EXTRACTABLE"]
        #expect(check?.result == .unavailable && check?.value == nil)
        #expect(check?.detail?.contains("CKR_ATTRIBUTE_TYPE_INVALID") == true)
    }

    @Test("usage.signOnly fails for a key with other rights than signing")
    func signOnly() {
        #expect(checks(.imported) { $0.set("CKA_DERIVE", "TRUE") }["usage.signOnly"]?.result == .fail)
        #expect(checks(.imported) { $0.set("CKA_DERIVE", nil) }["usage.signOnly"]?.result == .unavailable)
    }

    @Test("a key that the token exports fails despite its attributes, and an untried probe is unavailable")
    func probes() {
        let given = checks(.imported) { $0.probes?.wrap = .given }
        #expect(given["probe.wrap"]?.result == .fail && given["probe.value"]?.result == .pass)
        #expect(checks(.imported) { $0.probes?.value = .untried("why") }["probe.value"]?.result == .unavailable)
    }

    @Test("a name that several keys share fails, and an unknown one is unavailable")
    func uniqueness() {
        let checks = checks(.imported) { $0.objects = .init(uri: 1, id: 2, label: nil) }
        #expect(checks["unique.uri"]?.result == .pass)
        #expect(checks["unique.id"]?.result == .fail)
        #expect(checks["unique.label"]?.result == .unavailable)
    }

    @Test(
        "token flags that indicate PIN guessing fail", arguments: ["CKF_USER_PIN_COUNT_LOW", "CKF_USER_PIN_FINAL_TRY"])
    func pinFlags(_ flag: String) {
        let checks = checks(.imported) { $0.token.flags.append(flag) }.values
        #expect(checks.filter { $0.id.hasPrefix("token.pin") && $0.result == .fail }.count == 1)
    }

    @Test("SoftHSM counts as software, and a module without the hardware flag as unknown")
    func protection() {
        var token = key(.imported).token
        #expect(token.protection.kind == .hardware)
        token.slotFlags = []
        #expect(token.protection.kind == .unknown)
        token.info = info("SoftHSM project", "SoftHSM v2")
        token.slotFlags = ["CKF_TOKEN_PRESENT", "CKF_HW_SLOT"]
        #expect(token.protection.kind == .software)
        #expect(token.protection.text.contains("not hardware"))
    }

    @Test("the checks of an unreachable key are unavailable, and a refused login fails")
    func unreachable() {
        let gone = PKCS11TokenBackend.checks(provenance: .imported, uninspected: .unavailable("It is gone."))
        let seen = TokenKeyChecks(provenance: .imported, inspected: .success(key(.imported))).all
        #expect(gone.map(\.id) == seen.map(\.id))
        #expect(gone.allSatisfy { $0.result == .unavailable && $0.detail == "It is gone." })
        let locked = PKCS11TokenBackend.checks(provenance: .imported, uninspected: .loginRefused("It is locked."))
        #expect(locked.first { $0.id == "token.pinLocked" }?.result == .fail)
    }

    // MARK: Samples

    private func checks(
        _ provenance: KeyProvenance, _ change: (inout InspectedTokenKey) -> Void = { _ in }
    ) -> [String: ComplianceCheck] {
        var key = key(provenance)
        change(&key)
        return checks(provenance, key)
    }

    private func checks(_ provenance: KeyProvenance, _ key: InspectedTokenKey) -> [String: ComplianceCheck] {
        let all = TokenKeyChecks(provenance: provenance, inspected: .success(key)).all
        return Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
    }

    private func key(_ provenance: KeyProvenance) -> InspectedTokenKey {
        let isMade = provenance == .generated
        let made = isMade ? "TRUE" : "FALSE"
        let attributes = [
            ("CKA_CLASS", "CKO_PRIVATE_KEY"), ("CKA_KEY_TYPE", "CKK_EC"), ("CKA_EC_PARAMS", "P-256"),
            ("CKA_TOKEN", "TRUE"), ("CKA_PRIVATE", "TRUE"), ("CKA_SENSITIVE", "TRUE"), ("CKA_EXTRACTABLE", "FALSE"),
            ("CKA_ALWAYS_SENSITIVE", made), ("CKA_NEVER_EXTRACTABLE", made), ("CKA_LOCAL", made),
            ("CKA_KEY_GEN_MECHANISM", isMade ? "CKM_EC_KEY_PAIR_GEN" : "none known"), ("CKA_SIGN", "TRUE"),
            ("CKA_SIGN_RECOVER", "FALSE"), ("CKA_DECRYPT", "FALSE"), ("CKA_UNWRAP", "FALSE"), ("CKA_DERIVE", "FALSE"),
            ("CKA_MODIFIABLE", "FALSE"), ("CKA_COPYABLE", "FALSE"), ("CKA_DESTROYABLE", "TRUE"),
            ("CKA_WRAP_WITH_TRUSTED", "FALSE"), ("CKA_ALWAYS_AUTHENTICATE", "FALSE"),
            ("CKA_ALLOWED_MECHANISMS", "CKM_ECDSA"), ("CKA_START_DATE", "none"), ("CKA_END_DATE", "none"),
            ("CKA_ID", "01"), ("CKA_LABEL", "KEY0000001"),
        ].map { InspectedTokenKey.Attribute(name: $0.0, value: $0.1) }
        return InspectedTokenKey(
            token: InspectedTokenKey.Token(
                info: info("A maker of modules", "Model 5"), flags: ["CKF_RNG", "CKF_LOGIN_REQUIRED"],
                slotFlags: ["CKF_TOKEN_PRESENT", "CKF_HW_SLOT"], mechanisms: ["CKM_ECDSA"],
                library: ModuleInfo(
                    manufacturer: "A maker", description: "A library", version: "1.0", cryptokiVersion: "2.40"),
                path: "/usr/lib/a.so", digest: String(repeating: "0", count: 64)),
            objects: .init(uri: 1, id: 1, label: 1), attributes: attributes,
            probes: NegativeProbes.Answers(
                value: .refused(answer: "CKR_ATTRIBUTE_SENSITIVE"), wrap: .refused(answer: "CKR_KEY_UNEXTRACTABLE")))
    }

    private func info(_ manufacturer: String, _ model: String) -> TokenInfo {
        TokenInfo(
            label: "a", manufacturer: manufacturer, model: model, serial: "123", firmware: "1.2", hardware: "3.4",
            flags: [], maximumSessions: nil, uriAttributes: [:])
    }
}

extension InspectedTokenKey {
    fileprivate mutating func set(_ name: String, _ value: String?) {
        for index in attributes.indices where attributes[index].name == name {
            attributes[index].value = value
            if value == nil { attributes[index].answer = "CKR_ATTRIBUTE_TYPE_INVALID" }
        }
    }
}
