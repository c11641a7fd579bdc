// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// MARK: Products of other packages

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbird: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let algorithms: Target.Dependency = .product(name: "Algorithms", package: "swift-algorithms")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit: Target.Dependency = .product(name: "MetricsTestKit", package: "swift-metrics")
let lifecycleTestKit: Target.Dependency = .product(
    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// Indirect dependencies. A target names them so that SwiftPM uses the versions pinned below without a warning.
let indirect: [Target.Dependency] = [
    algorithms,
    .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
    .product(name: "Atomics", package: "swift-atomics"),
    deque,
    .product(name: "Configuration", package: "swift-configuration"),
    .product(name: "NIOHTTP2", package: "swift-nio-http2"),
    .product(name: "RealModule", package: "swift-numerics"),
    .product(name: "ServiceContextModule", package: "swift-service-context"),
    .product(name: "SystemPackage", package: "swift-system"),
]

/// A release links Swift and Foundation statically: it runs where Swift is not installed, and it is faster
/// (docs/adr/0040). The compiler names only the shared libraries, so the archives that Foundation needs are named here.
let standalone: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims", "-l_FoundationCollections",
            "-Xlinker", "-z", "-Xlinker", "now",
        ],
        .when(platforms: [.linux], configuration: .release))
]

// MARK: Kinds of targets

/// A library in `Sources/<layer>/<name>/`.
func library(
    _ layer: String, _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(layer)/\(name)", resources: resources,
        swiftSettings: strict)
}

/// C code or a module map in `Sources/System/<name>/`.
func cTarget(_ name: String) -> Target {
    .target(name: name, path: "Sources/System/\(name)")
}

/// A plugin in `Plugins/<kind>/<name>/`.
func plugin(
    _ kind: String, _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Plugins/\(kind)/\(name)", exclude: ["README.md"],
        resources: resources, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/Programs/\(name)", swiftSettings: strict,
        linkerSettings: standalone)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

/// The tests of a feature, with its golden vectors.
func featureTests(_ feature: String) -> Target {
    tests(
        "\(feature)Tests",
        [.init(stringLiteral: feature), "SigningKit", "StrictJSON", "Encodings", "SigningKitTesting"],
        resources: [.copy("Vectors")])
}

/// The features in `Plugins/Features`, each with the files that it embeds.
let featureList: KeyValuePairs<String, [Resource]> = [
    "LegacyPromotionalOffer": [.embedInCode("openapi.yaml")],
    "PromotionalOffer": [],
    "IntroductoryOfferEligibility": [],
    "AdvancedCommerce": [.embedInCode("openapi.yaml")],
    "ServiceTokens": [],
]
let features = featureList.map { Target.Dependency(stringLiteral: $0.key) }
let keyBackends: [Target.Dependency] = ["P8", "PKCS11Token", "AWSKMS"]
let auditStores: [Target.Dependency] = ["SQLiteAuditStore", "PostgreSQLAuditStore"]

let package = Package(
    name: "privyseal",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "privyseal", targets: ["privyseal"]),
        .library(name: "StrictJSON", targets: ["StrictJSON"]),
        .library(name: "Encodings", targets: ["Encodings"]),
        .library(name: "JWS", targets: ["JWS"]),
        .library(name: "SigningKit", targets: ["SigningKit"]),
        .library(name: "AppStoreJWS", targets: ["AppStoreJWS"]),
        .library(name: "AuditLog", targets: ["AuditLog"]),
        .library(name: "Signing", targets: ["Signing"]),
        .library(name: "KeyLifecycle", targets: ["KeyLifecycle"]),
        .library(name: "SignatureExplanation", targets: ["SignatureExplanation"]),
        .library(name: "GatewayHTTP", targets: ["GatewayHTTP"]),
        .library(name: "GatewayConfiguration", targets: ["GatewayConfiguration"]),
        .library(name: "SigningKitTesting", targets: ["SigningKitTesting"]),
        // Tests/Fuzzing is a package of its own and uses these.
        .library(name: "KeyTransport", targets: ["KeyTransport"]),
        .library(name: "PKCS11", targets: ["PKCS11"]),
        .library(name: "TransparencyLog", targets: ["TransparencyLog"]),
        .library(name: "WorkloadIdentities", targets: ["WorkloadIdentities"]),
        .library(name: "AuditKit", targets: ["AuditKit"]),
        .library(name: "ComplianceReport", targets: ["ComplianceReport"]),
        // The tests load this PKCS #11 module by its path, and only a dynamic product has one.
        .library(name: "FaultyPKCS11", type: .dynamic, targets: ["FaultyPKCS11"]),
        .library(name: "P8", targets: ["P8"]),
        .library(name: "PKCS11Token", targets: ["PKCS11Token"]),
        .library(name: "AWSKMS", targets: ["AWSKMS"]),
    ],
    // Exact versions, because Package.resolved is not committed: every build of a commit has the same sources.
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        // Indirect dependencies.
        .package(url: "https://github.com/apple/swift-algorithms.git", exact: "1.2.1"),
        .package(url: "https://github.com/apple/swift-async-algorithms.git", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-atomics.git", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections.git", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-numerics.git", exact: "1.1.1"),
        .package(url: "https://github.com/apple/swift-service-context.git", exact: "1.5.1"),
        .package(url: "https://github.com/apple/swift-system.git", exact: "1.8.1"),
    ],
    targets: [
        // System: C libraries, and what wraps the operating system
        .systemLibrary(
            name: "CP11Kit", path: "Sources/System/CP11Kit", pkgConfig: "p11-kit-1",
            providers: [.apt(["libp11-kit-dev"])]),
        .systemLibrary(
            name: "CLibCrypto", path: "Sources/System/CLibCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", path: "Sources/System/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CLibPQ", path: "Sources/System/CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        cTarget("CLinux"),
        cTarget("CProcessStart"),
        library("System", "PKCS11", ["CP11Kit"]),
        library("System", "SQLite", ["CSQLite"]),
        library("System", "PostgreSQL", ["CLibPQ"]),
        library("System", "ServiceManager", ["CLinux"]),
        .target(
            name: "CProcessSandbox", path: "Sources/System/CProcessSandbox",
            linkerSettings: [.linkedLibrary("seccomp")]),
        library("System", "ProcessSandbox", ["CProcessSandbox"]),

        // Formats: bytes and text, without I/O
        library("Formats", "StrictJSON"),
        library("Formats", "Encodings"),
        library("Formats", "JWS", ["Encodings"]),
        library("Formats", "TransparencyLog", ["Encodings", crypto]),

        // Observability: backends of swift-metrics and swift-distributed-tracing
        library("Observability", "PrometheusMetrics", [coreMetrics]),
        library("Observability", "TraceContext"),
        library(
            "Observability", "OTLPTracing",
            ["TraceContext", "StrictJSON", tracing, logging, metrics, lifecycle, httpClient, nioCore, nioHTTP1]),

        // Contracts: the protocols and values that the gateway and its plugins share
        library("Contracts", "SigningKit", ["StrictJSON", "Encodings", crypto]),
        library(
            "Contracts", "KeyTransport",
            ["SigningKit", "StrictJSON", "Encodings", crypto, cryptoExtras, x509, asn1]),
        library("Contracts", "AppStoreJWS", ["SigningKit", "StrictJSON", "JWS"]),
        library("Contracts", "AuditKit", ["SigningKit", "StrictJSON", "Encodings", "TransparencyLog", crypto]),

        // Plugins
        plugin("KeyBackends", "P8", ["SigningKit", "Encodings", "CLibCrypto", crypto]),
        plugin(
            "KeyBackends", "PKCS11Token",
            [
                "SigningKit", "KeyTransport", "Encodings", "PKCS11", crypto, asn1, deque, logging, metrics,
            ]),
        plugin(
            "KeyBackends", "AWSKMS",
            ["SigningKit", "StrictJSON", "Encodings", crypto, cryptoExtras, logging, httpClient, nioCore, nioHTTP1]),
        plugin("AuditStores", "SQLiteAuditStore", ["AuditKit", "SQLite", "CLinux", "SigningKit", "TransparencyLog"]),
        plugin("AuditStores", "PostgreSQLAuditStore", ["AuditKit", "PostgreSQL", "SigningKit"]),

        // Gateway: from request to signature, key life cycle, audit log
        library(
            "Gateway", "AuditLog",
            [
                "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "Encodings", crypto, logging, metrics,
                lifecycle,
            ]),
        library(
            "Gateway", "WitnessClient",
            ["AuditLog", "AuditKit", "SigningKit", "TransparencyLog", httpClient, nioCore, nioHTTP1, nioPosix, nioSSL]),
        library(
            "Gateway", "WorkloadIdentities",
            [
                "SigningKit", "StrictJSON", "JWS", "Encodings", crypto, cryptoExtras, logging, metrics, httpClient,
                nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        library(
            "Gateway", "Signing",
            [
                "AuditLog", "WorkloadIdentities", "SigningKit", "AuditKit", "StrictJSON", "Encodings", crypto, logging,
                metrics, tracing,
                lifecycle,
            ]),
        library(
            "Gateway", "KeyLifecycle",
            [
                "AuditLog", "Signing", "SigningKit", "AuditKit", "StrictJSON", "Encodings", crypto, logging, metrics,
                lifecycle,
            ]),
        library(
            "Gateway", "GatewayConfiguration",
            ["Signing", "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "Encodings", "Yams", crypto]),
        .target(
            name: "GatewayHTTP",
            dependencies: [
                "AuditLog", "Signing", "WorkloadIdentities", "KeyLifecycle", "GatewayConfiguration", "AuditKit",
                "TransparencyLog", "SigningKit", "StrictJSON", "Encodings", "TraceContext", "Yams",
                hummingbird, nioCore, nioPosix, nioHTTP1, nioTLS, nioSSL, nioHTTPTypes, httpTypes, x509, asn1, crypto,
                logging,
                metrics, lifecycle,
            ],
            path: "Sources/Gateway/GatewayHTTP",
            resources: [.embedInCode("Contract/openapi.yaml")],
            swiftSettings: strict
        ),

        // Witness: cosigns the checkpoints of other logs
        library(
            "Witness", "WitnessServer",
            [
                "SQLite", "SigningKit", "TransparencyLog", "Encodings", hummingbird, hummingbirdTLS, httpTypes, nioCore,
                nioHTTPTypes, nioPosix, nioSSL, crypto, logging, lifecycle,
            ]),

        // Signers: keys in separate processes
        library("Signers", "SignerProtocol", ["SigningKit", "StrictJSON", crypto]),
        library(
            "Signers", "SignerHost",
            ["SignerProtocol", "ProcessSandbox", "SigningKit", logging, metrics, coreMetrics]),
        library(
            "Signers", "SignerClient",
            [
                "SignerProtocol", "ProcessSandbox", "SigningKit", "StrictJSON", crypto, logging, metrics, nioCore,
                nioPosix,
            ]),

        // Reports: what operators and auditors read
        library("Reports", "ReportPages", resources: [.embedInCode("style.css")]),
        library(
            "Reports", "SignatureExplanation", ["SigningKit", "StrictJSON", "JWS", "Encodings", crypto, algorithms],
            resources: [.embedInCode("Result/cures.txt")]),
        library(
            "Reports", "ComplianceReport",
            [
                "KeyLifecycle", "Signing", "AuditLog", "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON",
                "Encodings", "ReportPages",
                crypto,
            ]),
        library(
            "Reports", "KeyDrills",
            [
                "SigningKit", "StrictJSON", "JWS", "Encodings", "ReportPages", crypto, httpClient, nioCore, nioHTTP1,
                nioSSL,
            ]),

        // Programs
        program(
            "privyseal",
            features + keyBackends + auditStores + indirect + [
                "SigningKit", "KeyTransport", "AuditKit", "TransparencyLog", "StrictJSON", "Encodings",
                "SignerProtocol", "SignerHost", "SignerClient",
                "AuditLog", "WitnessClient", "Signing", "WorkloadIdentities", "KeyLifecycle", "PKCS11",
                "SignatureExplanation", "GatewayHTTP", "WitnessServer",
                "ComplianceReport", "GatewayConfiguration",
                "KeyDrills",
                "PrometheusMetrics", "OTLPTracing", "TraceContext", "ServiceManager", "CLinux",
                "CProcessStart", argumentParser, crypto, logging, metrics, coreMetrics, tracing, lifecycle, unixSignals,
                httpClient, nioCore, nioPosix, nioHTTP1, nioSSL,
            ]),
        program(
            "privyseal-bench",
            features + keyBackends + auditStores + [
                "SigningKit", "AuditKit", "TransparencyLog", "StrictJSON", "AuditLog", "Signing", "KeyLifecycle",
                "SignerClient",
                "GatewayConfiguration", "GatewayHTTP", "CLibCrypto", "CP11Kit", argumentParser, crypto, logging,
                lifecycle, unixSignals, hummingbird, httpTypes, nioCore,
            ]),

        // Support for tests
        .target(
            name: "SigningKitTesting", dependencies: ["SigningKit", "StrictJSON", "Encodings", crypto],
            path: "Tests/Support/SigningKitTesting", swiftSettings: strict),
        .target(
            name: "GatewayTesting",
            dependencies: [
                "AuditLog", "Signing", "KeyLifecycle", "PromotionalOffer", "SigningKit", "SigningKitTesting",
                "AuditKit",
                "TransparencyLog", crypto,
            ],
            path: "Tests/Support/GatewayTesting", swiftSettings: strict),
        .target(
            name: "SoftHSMTesting", dependencies: ["PKCS11", crypto], path: "Tests/Support/SoftHSMTesting",
            swiftSettings: strict),
        .target(
            name: "AuditKitTesting", dependencies: ["AuditKit", "SigningKit"], path: "Tests/Support/AuditKitTesting",
            swiftSettings: strict),
        .target(
            name: "ProgramTesting", dependencies: ["ProcessSandbox"], path: "Tests/Support/ProgramTesting",
            swiftSettings: strict),
        .target(
            name: "PostgreSQLTesting", dependencies: ["ProgramTesting"], path: "Tests/Support/PostgreSQLTesting",
            swiftSettings: strict),
        .target(name: "SandboxAttempts", path: "Tests/Support/SandboxAttempts"),
        .executableTarget(
            name: "SandboxProbe", dependencies: ["CProcessSandbox", "ProcessSandbox", "PKCS11", "SandboxAttempts"],
            path: "Tests/Support/SandboxProbe", swiftSettings: strict),
        .target(
            name: "FaultyPKCS11", dependencies: ["CP11Kit", "SandboxAttempts"], path: "Tests/Support/FaultyPKCS11"),

        // Tests: one target for each target above
        tests("PKCS11Tests", ["PKCS11", "SoftHSMTesting", crypto]),
        tests("StrictJSONTests", ["StrictJSON", "SigningKitTesting"]),
        tests("EncodingsTests", ["Encodings", "SigningKitTesting"]),
        tests("JWSTests", ["JWS"]),
        tests("TransparencyLogTests", ["TransparencyLog", "Encodings", crypto], resources: [.copy("Vectors")]),
        tests("SQLiteTests", ["SQLite"]),
        tests(
            "SQLiteAuditStoreTests",
            ["SQLiteAuditStore", "AuditKit", "AuditKitTesting", "SQLite", "SigningKit", "TransparencyLog"]),
        tests(
            "PostgreSQLAuditStoreTests",
            ["PostgreSQLAuditStore", "AuditKit", "AuditKitTesting", "PostgreSQL", "PostgreSQLTesting", "SigningKit"]),
        tests("AuditKitTests", ["AuditKit", "TransparencyLog", "SigningKit", "StrictJSON", "Encodings", crypto]),
        tests("SigningKitTests", ["SigningKit", "SigningKitTesting", "StrictJSON", crypto]),
        tests("KeyTransportTests", ["KeyTransport", "SigningKit", "StrictJSON", "Encodings", crypto, cryptoExtras]),
        tests("AppStoreJWSTests", ["AppStoreJWS", "SigningKit", "StrictJSON", "JWS"]),
        tests("P8Tests", ["P8", "SigningKit", "SigningKitTesting", "ProgramTesting", "CLibCrypto", crypto]),
        tests(
            "PKCS11TokenTests",
            [
                "PKCS11Token", "PKCS11", "KeyTransport", "SigningKit", "SigningKitTesting", "SoftHSMTesting",
                "ProgramTesting", "FaultyPKCS11", "StrictJSON", "PrometheusMetrics", crypto, metrics,
            ]),
        tests(
            "AWSKMSTests",
            [
                "AWSKMS", "KeyTransport", "SigningKit", "SigningKitTesting", "StrictJSON", "Encodings", crypto,
                cryptoExtras, nioCore, nioPosix, nioHTTP1,
            ], resources: [.copy("Vectors")]),
        tests(
            "SignatureExplanationTests",
            features + ["SignatureExplanation", "SigningKit", "StrictJSON", "JWS", "Encodings", crypto]),
        tests(
            "AuditLogTests",
            ["AuditLog", "Signing", "GatewayTesting", "SigningKit", "AuditKit", "TransparencyLog", crypto, metrics]),
        tests(
            "SigningTests",
            [
                "Signing", "AuditLog", "GatewayTesting", "PromotionalOffer", "AdvancedCommerce", "SigningKit",
                "AuditKit",
                "StrictJSON", "SigningKitTesting", crypto, lifecycle, metrics, metricsTestKit,
            ]),
        tests(
            "KeyLifecycleTests",
            [
                "KeyLifecycle", "AuditLog", "Signing", "GatewayTesting", "PromotionalOffer", "SigningKit", "AuditKit",
                "TransparencyLog", "StrictJSON", "SigningKitTesting", crypto,
            ]),
        tests(
            "GatewayHTTPTests",
            features + [
                "GatewayHTTP", "GatewayConfiguration", "Signing", "AuditLog", "KeyLifecycle", "SigningKit",
                "SigningKitTesting", crypto,
                hummingbird, httpTypes, nioCore, nioEmbedded,
            ]),
        tests(
            "CrossBackendTests",
            keyBackends + ["Signing", "SigningKit", "SoftHSMTesting", crypto]),
        tests(
            "WorkloadIdentitiesTests",
            ["WorkloadIdentities", "SigningKit", "StrictJSON", "JWS", "Encodings", crypto, cryptoExtras]),
        tests("ArchitectureTests"),
        tests("TraceContextTests", ["TraceContext"]),
        tests("ReportPagesTests", ["ReportPages"]),
        tests(
            "ComplianceReportTests",
            [
                "ComplianceReport", "KeyLifecycle", "Signing", "AuditLog", "SigningKit", "TransparencyLog",
                "StrictJSON", crypto,
            ],
            resources: [.copy("Vectors")]),
        tests("SignerProtocolTests", ["SignerProtocol", "SigningKit", crypto]),
        tests(
            "SignerClientTests",
            ["SignerClient", "SignerHost", "SignerProtocol", "SigningKit", "SigningKitTesting", crypto]),
        tests("ServiceManagerTests", ["ServiceManager"]),
        tests(
            "ProcessSandboxTests",
            ["ProcessSandbox", "SandboxProbe", "SoftHSMTesting", "ProgramTesting", "FaultyPKCS11"]),
        tests("PrometheusMetricsTests", ["PrometheusMetrics", coreMetrics]),
        tests(
            "OTLPTracingTests",
            [
                "OTLPTracing", "TraceContext", "StrictJSON", tracing, logging, metrics, lifecycle, metricsTestKit,
                lifecycleTestKit, nioCore, nioPosix, nioHTTP1,
            ]),
        tests(
            "GatewayConfigurationTests",
            [
                "GatewayConfiguration", "P8", "PKCS11Token", "AWSKMS", "AdvancedCommerce", "SigningKit", "AuditKit",
                "TransparencyLog", crypto,
            ]),
        // The targets of Tests/Fuzzing, which is a package of its own, over its corpus.
        .testTarget(
            name: "FuzzCorpusTests",
            dependencies: [
                "AdvancedCommerce", "AuditKit", "ComplianceReport", "Encodings", "GatewayConfiguration", "GatewayHTTP",
                "JWS", "KeyTransport", "P8", "PKCS11Token", "PromotionalOffer", "SignatureExplanation", "Signing",
                "SigningKit", "StrictJSON", "TransparencyLog", "WorkloadIdentities", crypto, logging, nioCore,
                nioEmbedded,
            ],
            path: "Tests/Fuzzing",
            exclude: ["Corpus", "Package.swift", "README.md", "Sources/privyseal-fuzz/EntryPoint.swift"],
            sources: ["CorpusTests", "Sources/privyseal-fuzz"], swiftSettings: strict),
        tests("KeyDrillsTests", ["KeyDrills", "SigningKit", "StrictJSON", "JWS", "Encodings", crypto]),
    ]
)

package.products += featureList.map { .library(name: $0.key, targets: [$0.key]) }
package.targets += featureList.map { name, resources in
    plugin("Features", name, ["SigningKit", "StrictJSON", "Encodings", "JWS", "AppStoreJWS"], resources: resources)
}
package.targets += featureList.map { featureTests($0.key) }
