import SigningKit
import SigningKitTesting
import Testing

@testable import AWSKMS

@Suite("awskms: URIs")
struct AddressTests {
    static let id = "1234abcd-12ab-34cd-56ef-1234567890ab"
    static let arn = "arn:aws:kms:eu-west-1:111122223333:key/\(id)"

    @Test(
        "a URI is split into the region and the key",
        arguments: [
            ("awskms:eu-west-1/\(id)", "awskms:eu-west-1", "awskms:\(id)"),
            ("awskms:eu-west-1/key/\(id)", "awskms:eu-west-1", "awskms:\(id)"),
            ("awskms:///eu-west-1/alias/appstore", "awskms:eu-west-1", "awskms:alias/appstore"),
            ("AWSKMS:us-gov-west-1/alias/a/b_c-D", "awskms:us-gov-west-1", "awskms:alias/a/b_c-D"),
            ("awskms:us-east-1/mrk-\(id)", "awskms:us-east-1", "awskms:mrk-\(id)"),
            ("awskms:\(arn)", "awskms:eu-west-1", "awskms:\(arn)"),
            (
                "awskms:arn:aws-cn:kms:cn-north-1:111122223333:alias/x", "awskms:cn-north-1",
                "awskms:arn:aws-cn:kms:cn-north-1:111122223333:alias/x"
            ),
            (
                "awskms:eu-west-1/alias/x?endpoint=http://127.0.0.1:5000/",
                "awskms:eu-west-1?endpoint=http://127.0.0.1:5000", "awskms:alias/x"
            ),
            (
                "awskms:eu-west-1/alias/x?endpoint=https%3A%2F%2FVPCE.example.com:443",
                "awskms:eu-west-1?endpoint=https://vpce.example.com", "awskms:alias/x"
            ),
        ])
    func address(_ uri: String, _ locator: String, _ selector: String) throws {
        let address = try AWSKMSBackend.address(of: KeyURI(uri))
        #expect(address.locator.uri.text == locator)
        #expect(address.selector.uri.text == selector)
        // The key can be read from the selector, and the location from the locator.
        #expect("awskms:\(try KMSAddress.key(address.selector).text)" == selector)
        #expect(try KMSAddress(address.locator.uri).key == nil)
    }

    @Test(
        "a URI of another form is refused with the remedy",
        arguments: [
            ("awskms:alias/appstore", "begin with the region"), ("awskms:eu-west-1", "name the key after the region"),
            ("awskms:eu-west-1/", "name the key"), ("awskms:\(id)", "begin with the region"),
            ("awskms:eu-west-1/alias/", "its alias must be"), ("awskms:eu-west-1/alias/a b", "its alias must be"),
            ("awskms:eu-west-1/appstore", "its key must be"), ("awskms:eu-west-1/key/a/b-c", "its key must be"),
            ("awskms:eu-west-1/\(id)?region=eu-west-1", "belongs in the path"),
            ("awskms:eu-west-1/\(id)?secret-access-key=hunter2", "credentials never belong in it"),
            ("awskms:eu-west-1/\(id)?endpoint=http://kms.example.com", "http is for this machine only"),
            ("awskms:eu-west-1/\(id)?endpoint=https://kms.example.com/path", "without a path"),
            ("awskms:eu-west-1/\(id)?endpoint=ftp://127.0.0.1", "its endpoint must be"),
            ("awskms:eu-west-1/\(id)?endpoint=https://user@kms.example.com", "its endpoint must be"),
            ("awskms:eu-west-1/\(id)?endpoint=http://127.0.0.1.example.com", "http is for this machine only"),
            ("awskms:eu-west-1/\(id)?endpoint=https://a&endpoint=https://b", "endpoint twice"),
            ("awskms:arn:aws:s3:eu-west-1:111122223333:key/\(id)", "its ARN must be"),
            ("awskms:arn:aws:kms:eu-west-1:1111:key/\(id)", "its ARN must be"),
            ("awskms:arn:aws:kms:eu-west-1:111122223333:\(id)", "its key must be"),
            ("awskms:EU-WEST-1/\(id)", "begin with the region"), ("awskms:eu-west-1.evil.com/\(id)", "the region"),
        ])
    func refusals(_ uri: String, _ words: String) throws {
        let error = try #require(throws: KeyError.self) { try AWSKMSBackend.address(of: KeyURI(uri)) }
        #expect(error.kind == .invalidURI)
        #expect(error.description.contains(words))
        #expect(!error.description.contains("hunter2"))
    }

    @Test(
        "a new key without a name gets its ID as the alias",
        arguments: [
            ("awskms:eu-west-1", "awskms:eu-west-1/alias/2X9R4HXF34"),
            (
                "awskms:eu-west-1?endpoint=http://127.0.0.1:5000",
                "awskms:eu-west-1/alias/2X9R4HXF34?endpoint=http://127.0.0.1:5000"
            ),
            ("awskms:eu-west-1/alias/own", "awskms:eu-west-1/alias/own"), ("awskms:\(arn)", "awskms:\(arn)"),
        ])
    func naming(_ uri: String, _ named: String) throws {
        #expect(try AWSKMSBackend.uri(KeyURI(uri), naming: "2X9R4HXF34").text == named)
    }

    @Test("the address of a URI that omits its query is still valid, because the register omits it")
    func shown() throws {
        let uri = try KeyURI("awskms:eu-west-1/alias/x?endpoint=http://127.0.0.1:5000")
        let shown = try AWSKMSBackend.address(of: KeyURI("\(uri)"))
        #expect(shown.selector == (try AWSKMSBackend.address(of: uri).selector))
        #expect(shown.locator.uri.text == "awskms:eu-west-1")
    }

    @Test(
        "each partition has its own domain",
        arguments: [
            ("eu-west-1", "kms.eu-west-1.amazonaws.com"), ("us-gov-east-1", "kms.us-gov-east-1.amazonaws.com"),
            ("cn-north-1", "kms.cn-north-1.amazonaws.com.cn"), ("us-iso-east-1", "kms.us-iso-east-1.c2s.ic.gov"),
            ("us-isob-east-1", "kms.us-isob-east-1.sc2s.sgov.gov"),
            ("eusc-de-east-1", "kms.eusc-de-east-1.amazonaws.eu"),
        ])
    func domains(_ region: String, _ host: String) throws {
        #expect(try #require(AWSRegion(region)).endpoint(of: "kms").host == host)
    }
}

@Suite("HTTP addresses")
struct HTTPAddressTests {
    @Test(
        "an address has scheme, host, port and target",
        arguments: [
            ("https://kms.example.com", true, "kms.example.com", nil, "/"),
            ("HTTP://Example.com:8080/a?b=c", false, "example.com", 8080, "/a?b=c"),
            ("http://[::1]:9000?x", false, "::1", 9000, "/?x"), ("https://a:443/", true, "a", nil, "/"),
            ("http://169.254.170.2/v2/x", false, "169.254.170.2", nil, "/v2/x"),
        ] as [(String, Bool, String, Int?, String)])
    func parts(_ text: String, _ isEncrypted: Bool, _ host: String, _ port: Int?, _ target: String) throws {
        let address = try #require(HTTPAddress(text))
        #expect(address.isEncrypted == isEncrypted && address.host == host)
        #expect(address.port == port && address.target == target)
        #expect(HTTPAddress(address.text) == address)
    }

    @Test(
        "another text is no address",
        arguments: [
            "", "kms.example.com", "https://", "https://:80", "https://a:0", "https://a:65536", "https://a:080",
            "https://user:pass@a", "https://a b", "https://a/#b", "https://a\\b", "https://[::1", "https://[]",
            "https://[a.b]", "file:///etc/passwd", "https://ä.example.com", "https://a\r\nX: y", "https://a:1:2",
        ])
    func refusals(_ text: String) { #expect(HTTPAddress(text) == nil) }

    @Test(
        "only this machine is loopback",
        arguments: [
            ("http://localhost", true), ("http://127.0.0.1", true), ("http://127.9.9.9:1", true),
            ("http://[::1]", true),
            ("http://127.0.0.1.nip.io", false), ("http://127.0.0.256", false), ("http://10.0.0.1", false),
            ("http://localhost.example.com", false), ("http://0.0.0.0", false),
            ("http://127", false), ("http://127.1", false), ("http://127.0.0.0.1", false),
        ])
    func loopback(_ text: String, _ isLoopback: Bool) throws {
        #expect(try #require(HTTPAddress(text)).isLoopback == isLoopback)
    }
}
