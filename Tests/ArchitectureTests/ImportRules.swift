/// The only list of import rules. The tests check `Package.swift` and docs/architecture.md against it.
enum ImportRules {
    /// A target of this package, its folder, and the targets of this package that it may import.
    struct Target {
        var folder: String
        var name: String
        var imports: [String]

        init(_ folder: String, _ name: String, _ imports: [String] = []) {
            self.folder = folder
            self.name = name
            self.imports = imports
        }

        var path: String { "\(folder)/\(name)" }
        var isPlugin: Bool { folder.hasPrefix("Plugins/") }
        var isForTests: Bool { folder.hasPrefix("Tests/") }
        var isProgram: Bool { folder == "Sources/Programs" }
    }

    /// All features have the same rule.
    static let features = (try? SourceTree.subfolders(of: "Plugins/Features")) ?? []

    /// Ordered by layer: a target imports only targets above it. No plugin imports a plugin.
    static let targets =
        libraries
        + features.map {
            Target("Plugins/Features", $0, ["SigningKit", "StrictJSON", "Encodings", "JWS", "AppStoreJWS"])
        }
        + gateway

    private static let libraries: [Target] = [
        Target("Sources/System", "CP11Kit"),
        Target("Sources/System", "CLibCrypto"),
        Target("Sources/System", "CSQLite"),
        Target("Sources/System", "CLibPQ"),
        Target("Sources/System", "CLinux"),
        Target("Sources/System", "CProcessStart"),
        Target("Sources/System", "PKCS11", ["CP11Kit"]),
        Target("Sources/System", "SQLite", ["CSQLite"]),
        Target("Sources/System", "PostgreSQL", ["CLibPQ"]),
        Target("Sources/System", "ServiceManager", ["CLinux"]),
        Target("Sources/System", "CProcessSandbox"),
        Target("Sources/System", "ProcessSandbox", ["CProcessSandbox"]),

        Target("Sources/Formats", "StrictJSON"),
        Target("Sources/Formats", "Encodings"),
        Target("Sources/Formats", "JWS", ["Encodings"]),
        Target("Sources/Formats", "TransparencyLog", ["Encodings"]),

        Target("Sources/Observability", "PrometheusMetrics"),
        Target("Sources/Observability", "TraceContext"),
        Target("Sources/Observability", "OTLPTracing", ["TraceContext", "StrictJSON"]),

        Target("Sources/Contracts", "SigningKit", ["StrictJSON", "Encodings"]),
        Target("Sources/Contracts", "KeyTransport", ["SigningKit", "StrictJSON", "Encodings"]),
        Target("Sources/Contracts", "AppStoreJWS", ["SigningKit", "StrictJSON", "JWS"]),
        Target("Sources/Contracts", "AuditKit", ["SigningKit", "StrictJSON", "Encodings", "TransparencyLog"]),

        Target("Plugins/KeyBackends", "P8", ["SigningKit", "Encodings", "CLibCrypto"]),
        Target("Plugins/KeyBackends", "PKCS11Token", ["SigningKit", "KeyTransport", "Encodings", "PKCS11"]),
        Target("Plugins/KeyBackends", "AWSKMS", ["SigningKit", "StrictJSON", "Encodings"]),
        Target(
            "Plugins/AuditStores", "SQLiteAuditStore",
            ["AuditKit", "SQLite", "CLinux", "SigningKit", "TransparencyLog"]),
        Target("Plugins/AuditStores", "PostgreSQLAuditStore", ["AuditKit", "PostgreSQL", "SigningKit"]),
    ]

    private static let gateway: [Target] = [
        Target(
            "Sources/Gateway", "AuditLog", ["SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "Encodings"]),
        Target("Sources/Gateway", "WitnessClient", ["AuditLog", "AuditKit", "SigningKit", "TransparencyLog"]),
        Target("Sources/Gateway", "WorkloadIdentities", ["SigningKit", "StrictJSON", "JWS", "Encodings"]),
        Target(
            "Sources/Gateway", "Signing",
            ["AuditLog", "WorkloadIdentities", "SigningKit", "AuditKit", "StrictJSON", "Encodings"]),
        Target(
            "Sources/Gateway", "KeyLifecycle",
            ["AuditLog", "Signing", "SigningKit", "AuditKit", "StrictJSON", "Encodings"]),
        Target(
            "Sources/Gateway", "GatewayConfiguration",
            ["Signing", "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "Encodings"]),
        Target(
            "Sources/Gateway", "GatewayHTTP",
            [
                "AuditLog", "Signing", "WorkloadIdentities", "KeyLifecycle", "GatewayConfiguration", "AuditKit",
                "TransparencyLog", "SigningKit", "StrictJSON", "Encodings", "TraceContext",
            ]),

        Target("Sources/Witness", "WitnessServer", ["SQLite", "SigningKit", "TransparencyLog", "Encodings"]),

        Target("Sources/Signers", "SignerProtocol", ["SigningKit", "StrictJSON"]),
        Target("Sources/Signers", "SignerHost", ["SignerProtocol", "ProcessSandbox", "SigningKit"]),
        Target(
            "Sources/Signers", "SignerClient", ["SignerProtocol", "ProcessSandbox", "SigningKit", "StrictJSON"]),

        Target("Sources/Reports", "ReportPages"),
        Target("Sources/Reports", "SignatureExplanation", ["SigningKit", "StrictJSON", "JWS", "Encodings"]),
        Target(
            "Sources/Reports", "ComplianceReport",
            [
                "KeyLifecycle", "Signing", "AuditLog", "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON",
                "Encodings", "ReportPages",
            ]),
        Target("Sources/Reports", "KeyDrills", ["SigningKit", "StrictJSON", "JWS", "Encodings", "ReportPages"]),

        // The command-line program, which composes all targets, and its benchmark.
        Target(
            "Sources/Programs", "privyseal",
            features + [
                "P8", "PKCS11Token", "AWSKMS", "SQLiteAuditStore", "PostgreSQLAuditStore", "SigningKit", "KeyTransport",
                "AuditKit",
                "SignerProtocol", "SignerHost", "SignerClient",
                "TransparencyLog", "StrictJSON", "Encodings", "AuditLog", "WitnessClient", "Signing",
                "WorkloadIdentities", "KeyLifecycle", "PKCS11", "SignatureExplanation",
                "GatewayHTTP", "WitnessServer", "ComplianceReport", "GatewayConfiguration", "KeyDrills",
                "PrometheusMetrics",
                "OTLPTracing", "TraceContext", "ServiceManager", "CLinux", "CProcessStart",
            ]),
        Target(
            "Sources/Programs", "privyseal-bench",
            features + [
                "P8", "PKCS11Token", "AWSKMS", "SQLiteAuditStore", "PostgreSQLAuditStore", "SigningKit", "AuditKit",
                "TransparencyLog",
                "StrictJSON", "AuditLog", "Signing", "KeyLifecycle", "SignerClient", "GatewayConfiguration",
                "GatewayHTTP", "CLibCrypto", "CP11Kit",
            ]),

        Target("Tests/Support", "SigningKitTesting", ["SigningKit", "StrictJSON", "Encodings"]),
        Target(
            "Tests/Support", "GatewayTesting",
            [
                "AuditLog", "Signing", "KeyLifecycle", "PromotionalOffer", "SigningKit", "SigningKitTesting",
                "AuditKit",
                "TransparencyLog",
            ]),
        Target("Tests/Support", "SoftHSMTesting", ["PKCS11"]),
        Target("Tests/Support", "AuditKitTesting", ["AuditKit", "SigningKit"]),
        Target("Tests/Support", "ProgramTesting", ["ProcessSandbox"]),
        Target("Tests/Support", "PostgreSQLTesting", ["ProgramTesting"]),
        Target("Tests/Support", "SandboxAttempts"),
        Target(
            "Tests/Support", "SandboxProbe", ["CProcessSandbox", "ProcessSandbox", "PKCS11", "SandboxAttempts"]),
        Target("Tests/Support", "FaultyPKCS11", ["CP11Kit", "SandboxAttempts"]),
    ]

    /// Modules that only the named targets may import. privyseal-bench may too, because it measures their raw speed.
    static let restricted: [String: Set<String>] = [
        "CP11Kit": ["PKCS11"],
        "CLibCrypto": ["P8"],
        "CSQLite": ["SQLite"],
        "SQLite": ["SQLiteAuditStore", "WitnessServer"],
        "CLibPQ": ["PostgreSQL"],
        "PostgreSQL": ["PostgreSQLAuditStore"],
        "CLinux": ["ServiceManager", "SQLiteAuditStore", "privyseal"],
        "CProcessStart": ["privyseal"],
        "CProcessSandbox": ["ProcessSandbox"],
        "HummingbirdCore": ["GatewayHTTP", "WitnessServer"],
        "Yams": ["GatewayHTTP"],
        "CYaml": ["GatewayConfiguration"],
        "ArgumentParser": ["privyseal"],
    ]
}
