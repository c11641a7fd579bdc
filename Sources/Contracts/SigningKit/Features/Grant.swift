import Encodings

/// The values that the gateway sets for one signature: app and key, time, and nonce. A caller cannot override them.
public struct Grant: Sendable {
    public let app: AppIdentity
    public let issuedAt: Timestamp
    public let nonce: Nonce

    public init(app: AppIdentity, issuedAt: Timestamp, nonce: Nonce) {
        self.app = app
        self.issuedAt = issuedAt
        self.nonce = nonce
    }
}

/// The identifiers against which Apple checks a signature. They come from the configuration, never from a caller.
public struct AppIdentity: Hashable, Sendable {
    /// The app's bundle ID: `appBundleID`, or the claim `bid`.
    public let bundleID: String
    /// The account's issuer ID in App Store Connect: the claim `iss`.
    public let issuerID: String
    /// The key's ID in App Store Connect: `keyIdentifier`, or `kid` in a JWS header.
    public let keyID: String

    public init(bundleID: String, issuerID: String, keyID: String) {
        self.bundleID = bundleID
        self.issuerID = issuerID
        self.keyID = keyID
    }
}

/// A one-time value: a version 4 UUID (RFC 9562 §5.4). Apple accepts its text only in lower case.
public struct Nonce: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Makes a UUID of 128 random bits. Version and variant replace six of them.
    public init(random high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// 36 lower-case characters in groups of 8, 4, 4, 4 and 12, as ASCII.
    public var text: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (half, number) in [high, low].enumerated() {
            for shift in stride(from: 60, through: 0, by: -4) {
                let isFirstOfGroup = half == 0 ? shift == 28 || shift == 12 : shift == 60 || shift == 44
                if isFirstOfGroup { text.append(UInt8(ascii: "-")) }
                text.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15))
            }
        }
        return text
    }
}

extension Nonce: CustomStringConvertible {
    public var description: String { String(decoding: text, as: UTF8.self) }
}
