// swift-tools-version: 6.2

import PackageDescription

/// Two features in a package of their own. They depend on PrivySeal's contract, and no part of PrivySeal names them.
let package = Package(
    name: "example-plugin",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "CloudKitRequest", targets: ["CloudKitRequest"]),
        .library(name: "OfferCodeRedemption", targets: ["OfferCodeRedemption"]),
    ],
    dependencies: [
        // In your package: .package(url: "…/privyseal", from: "…")
        .package(name: "privyseal", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // For the test with a whole gateway.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "CloudKitRequest",
            dependencies: [
                .product(name: "SigningKit", package: "privyseal"),
                .product(name: "StrictJSON", package: "privyseal"),
                .product(name: "Encodings", package: "privyseal"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "CloudKitRequestTests",
            dependencies: [
                "CloudKitRequest",
                .product(name: "SigningKit", package: "privyseal"),
                .product(name: "SigningKitTesting", package: "privyseal"),
            ],
            resources: [.copy("Vectors")]
        ),
        .target(
            name: "OfferCodeRedemption",
            dependencies: [
                .product(name: "AppStoreJWS", package: "privyseal"),
                .product(name: "SigningKit", package: "privyseal"),
                .product(name: "StrictJSON", package: "privyseal"),
            ],
            exclude: ["README.md"]
        ),
        .testTarget(
            name: "OfferCodeRedemptionTests",
            dependencies: [
                "OfferCodeRedemption",
                .product(name: "AdvancedCommerce", package: "privyseal"),
                .product(name: "GatewayConfiguration", package: "privyseal"),
                .product(name: "GatewayHTTP", package: "privyseal"),
                .product(name: "IntroductoryOfferEligibility", package: "privyseal"),
                .product(name: "JWS", package: "privyseal"),
                .product(name: "LegacyPromotionalOffer", package: "privyseal"),
                .product(name: "PromotionalOffer", package: "privyseal"),
                .product(name: "SignatureExplanation", package: "privyseal"),
                .product(name: "Signing", package: "privyseal"),
                .product(name: "SigningKit", package: "privyseal"),
                .product(name: "SigningKitTesting", package: "privyseal"),
                .product(name: "StrictJSON", package: "privyseal"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            resources: [.copy("Vectors")]
        ),
    ]
)
