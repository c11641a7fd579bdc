// swift-tools-version: 6.2

import PackageDescription

/// A feature of your own, in a package of your own: it depends on PrivySeal's contract, and nothing of PrivySeal knows it.
let package = Package(
    name: "example-plugin",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "CloudKitRequest", targets: ["CloudKitRequest"])
    ],
    dependencies: [
        // In your package: .package(url: "…/privyseal", from: "…")
        .package(name: "privyseal", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
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
    ]
)
