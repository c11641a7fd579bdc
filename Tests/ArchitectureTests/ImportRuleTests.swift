import Foundation
import Testing

/// The floors of docs/architecture.md: an import points down only, and never sideways between plugins.
@Suite("The floors")
struct ImportRuleTests {
    /// What each target may import of ours. A target that is not here may not exist.
    static let allowed: [String: Set<String>] = [
        "CP11Kit": [], "CLibCrypto": [], "CSQLite": [], "CStatx": [], "CProcessStart": [],
        "SQLite": ["CSQLite"], "TransparencyLog": ["Base64"],
        "AuditKit": ["SigningKit", "StrictJSON", "Base64", "TransparencyLog"],
        "SQLiteAuditStore": ["AuditKit", "SQLite", "CStatx", "SigningKit", "TransparencyLog"],
        "PKCS11": ["CP11Kit"], "StrictJSON": [], "Base64": [], "JWS": ["Base64"],
        "SigningKit": ["StrictJSON"],
        "AppStoreJWS": ["SigningKit", "StrictJSON", "JWS"],
        "P8": ["SigningKit", "CLibCrypto"],
        "KeyTransport": ["SigningKit", "StrictJSON", "Base64"],
        "PKCS11Token": ["SigningKit", "KeyTransport", "PKCS11"],
        "LegacyPromotionalOffer": ["SigningKit", "StrictJSON", "Base64"],
        "PromotionalOffer": ["SigningKit", "StrictJSON", "AppStoreJWS"],
        "IntroductoryOfferEligibility": ["SigningKit", "StrictJSON", "AppStoreJWS"],
        "AdvancedCommerce": ["SigningKit", "StrictJSON", "AppStoreJWS", "Base64"],
        "SigningGateway": ["SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "Base64"],
        "SignatureExplanation": ["SigningKit", "StrictJSON", "JWS", "Base64"],
        "GatewayHTTP": [
            "SigningGateway", "AuditKit", "TransparencyLog", "SigningKit", "StrictJSON", "Base64", "TraceContext",
        ],
        "GatewayConfiguration": ["SigningKit", "StrictJSON"],
        "ComplianceReport": [
            "SigningGateway", "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "ReportPages",
        ],
        "KeyDrills": ["SigningKit", "StrictJSON", "JWS", "Base64", "ReportPages"],
        "SigningKitTesting": ["SigningKit", "StrictJSON", "Base64", "JWS"],
        "SoftHSMTesting": ["PKCS11"],
        "FaultyPKCS11": ["CP11Kit"],
        "TraceContext": [], "PrometheusMetrics": [], "OTLPTracing": ["TraceContext", "StrictJSON"],
        "CPrctl": [], "ServiceManager": ["CPrctl"], "ReportPages": [],
        "CJobHook": [], "EventLoopExecutor": ["CJobHook"],
    ]

    /// Who alone may import a module from outside, besides the benchmark, which measures against raw limits.
    static let reserved: [String: Set<String>] = [
        "CP11Kit": ["PKCS11"], "CLibCrypto": ["P8"], "Hummingbird": ["GatewayHTTP"], "HummingbirdCore": ["GatewayHTTP"],
        "CPrctl": ["ServiceManager"], "CSQLite": ["SQLite"], "SQLite": ["SQLiteAuditStore"],
        "CStatx": ["SQLiteAuditStore", "privyseal"], "CJobHook": ["EventLoopExecutor"],
        "CProcessStart": ["privyseal"],
        "Yams": ["GatewayConfiguration"], "ArgumentParser": ["privyseal"],
    ]

    static let plugins =
        ["P8", "PKCS11Token", "SQLiteAuditStore"]
        + ["LegacyPromotionalOffer", "PromotionalOffer", "IntroductoryOfferEligibility", "AdvancedCommerce"]

    @Test("Every import of ours points down", arguments: allowed.keys.sorted())
    func downwards(_ target: String) throws {
        let ours = Set(Self.allowed.keys)
        for (file, imports) in try Self.imports(of: target) {
            let forbidden = imports.intersection(ours).subtracting(Self.allowed[target] ?? [])
            #expect(forbidden.isEmpty, "\(file) imports \(forbidden.sorted())")
        }
    }

    @Test("Modules with one keeper are imported by their keeper only")
    func keepers() throws {
        for target in Self.allowed.keys.sorted() + ["privyseal"] {
            for (file, imports) in try Self.imports(of: target) {
                for module in imports {
                    guard let keepers = Self.reserved[module] else { continue }
                    #expect(keepers.contains(target), "\(file) imports \(module)")
                }
            }
        }
    }

    @Test("In the composition root only BuiltIns.swift names a plugin")
    func builtIns() throws {
        for (file, imports) in try Self.imports(of: "privyseal") where file != "BuiltIns.swift" {
            #expect(imports.isDisjoint(with: Self.plugins), "\(file) names a plugin")
        }
    }

    @Test("Every directory of sources is a target that the rules know")
    func known() throws {
        let directories = try Self.directories()
        #expect(Set(directories.keys).subtracting(["privyseal", "privyseal-bench"]) == Set(Self.allowed.keys))
    }

    @Test("No source traps on purpose: no fatalError, no precondition, no forced try or cast")
    func noTraps() throws {
        let traps = ["fatalError(", "preconditionFailure(", "precondition(", "try!", "as!", "unsafelyUnwrapped"]
        let forTests = ["SigningKitTesting", "SoftHSMTesting", "FaultyPKCS11"]
        for target in Self.allowed.keys.sorted() + ["privyseal"] where !forTests.contains(target) {
            for file in try Self.files(of: target) {
                let text = try String(contentsOf: file, encoding: .utf8)
                for trap in traps { #expect(!text.contains(trap), "\(file.lastPathComponent) holds \(trap)") }
            }
        }
    }

    // MARK: Reading the tree

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func directories() throws -> [String: URL] {
        var directories: [String: URL] = [:]
        for parent in ["Sources", "Plugins/KeyBackends", "Plugins/AuditStores", "Plugins/Features"] {
            let url = root.appending(path: parent)
            for child in try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil) {
                directories[child.lastPathComponent] = child
            }
        }
        return directories
    }

    private static func files(of target: String) throws -> [URL] {
        guard let directory = try directories()[target] else {
            Issue.record("there is no target \(target)")
            return []
        }
        let all = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        return (all?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }

    private static func imports(of target: String) throws -> [(file: String, modules: Set<String>)] {
        try files(of: target).map { file in
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let modules = lines.compactMap { line -> String? in
                let words = line.split(separator: " ")
                guard let position = words.firstIndex(of: "import"), position <= 2, position + 1 < words.count else {
                    return nil
                }
                return String(words[position + 1].prefix { $0 != "." })
            }
            return (file.lastPathComponent, Set(modules))
        }
    }
}
