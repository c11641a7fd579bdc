// swift-tools-version: 6.2

import PackageDescription

/// The fuzz targets, one for each reader of untrusted bytes. `scripts/fuzz` builds them with libFuzzer and runs them.
///
/// A separate package with its own build directory, because SwiftPM instruments a whole build.
let package = Package(
    name: "privyseal-fuzz",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "privyseal", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(
            name: "privyseal-fuzz",
            dependencies: [
                .product(name: "AdvancedCommerce", package: "privyseal"),
                .product(name: "AuditKit", package: "privyseal"),
                .product(name: "Encodings", package: "privyseal"),
                .product(name: "ComplianceReport", package: "privyseal"),
                .product(name: "GatewayConfiguration", package: "privyseal"),
                .product(name: "GatewayHTTP", package: "privyseal"),
                .product(name: "JWS", package: "privyseal"),
                .product(name: "KeyTransport", package: "privyseal"),
                .product(name: "P8", package: "privyseal"),
                .product(name: "PKCS11", package: "privyseal"),
                .product(name: "PKCS11Token", package: "privyseal"),
                .product(name: "PromotionalOffer", package: "privyseal"),
                .product(name: "SignatureExplanation", package: "privyseal"),
                .product(name: "Signing", package: "privyseal"),
                .product(name: "SigningKit", package: "privyseal"),
                .product(name: "StrictJSON", package: "privyseal"),
                .product(name: "TransparencyLog", package: "privyseal"),
                .product(name: "WorkloadIdentities", package: "privyseal"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]
        )
    ]
)
