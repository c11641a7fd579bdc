/// The name of an AWS region, such as `eu-west-1`.
struct AWSRegion: Hashable, Sendable {
    let name: String

    /// Nil unless the text has the form of a region: lower-case words and a number, joined by dashes.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 3, text.utf8.count <= 32, let number = parts.last,
            (1...2).contains(number.utf8.count), number.utf8.allSatisfy({ Self.digits.contains($0) }),
            parts.dropLast().allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { Self.letters.contains($0) } })
        else { return nil }
        name = String(text)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")

    /// The domain of the services in the region's partition.
    var domain: String { Self.domains.first { name.hasPrefix($0.prefix) }?.domain ?? "amazonaws.com" }

    /// The partitions besides `aws` and `aws-us-gov`, which have the domain `amazonaws.com`.
    private static let domains: [(prefix: String, domain: String)] = [
        ("cn-", "amazonaws.com.cn"), ("us-iso-", "c2s.ic.gov"), ("us-isob-", "sc2s.sgov.gov"),
        ("eu-isoe-", "cloud.adc-e.uk"), ("us-isof-", "csp.hci.ic.gov"), ("eusc-", "amazonaws.eu"),
    ]

    /// The regional endpoint of a service, such as `kms`.
    func endpoint(of service: String) -> HTTPAddress { HTTPAddress(host: "\(service).\(name).\(domain)") }
}
