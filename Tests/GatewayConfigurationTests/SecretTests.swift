import GatewayConfiguration
import SigningKit
import Testing

@Suite("Secrets in messages and dumps")
struct SecretTests {
    static let secret = "sesame4711"

    @Test(
        "the reader refuses a misplaced PIN in a URI and does not repeat it",
        arguments: [
            "pkcs11:token=a;object=b?pin-value=sesame4711", "pkcs11:token=a;object=b;pin-value=sesame4711",
            "pkcs11:token=a;object=b&pin-value=sesame4711", "pkcs11:token=a,pin-value=sesame4711",
            "pkcs11:pin-value=sesame4711",
            "pkcs11:token=a?module-path=/m&PIN-Value=sesame4711", "pkcs11:token=a?p%69n-v%61lue=sesame4711",
            "pkcs11:token=a?pin=sesame4711", "pkcs11:token=a?user-pin=sesame4711",
            "file:/etc/key.p8?passphrase=sesame4711", "file:/etc/key.p8?password=sesame4711",
            "file:/etc/key.p8?passphrase-source=file:/etc/p&pass=sesame4711", "file:/etc/key.p8%3Fpwd=sesame4711",
            "file:/etc/key.p8%26pin%3Dsesame4711", "file:/etc/key.p8%3Bpass=sesame4711",
            "file:/etc/key.p8;key=sesame4711",
            "file:/etc/key.p8?token=sesame4711",
        ])
    func refused(_ uri: String) throws {
        let text = Examples.least("file:/etc/privyseal/AuthKey.p8", "\"\(uri)\"")
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(
            error.faults.map(\.description) == [
                "gateway.yaml:8: accounts[0].keys[0].uri: holds a PIN or a passphrase; put it into a file that only the gateway "
                    + "reads, and name the file with pin-source=file:/path or passphrase-source=file:/path."
            ])
        checkSilence(error)
    }

    @Test(
        "the reader does not repeat an invalid URI, whatever its secret is called",
        arguments: [
            "file:/etc/key.p8?pwd=sesame4711", "file:/etc/key.p8?pw=sesame4711", "file:/etc/key.p8;pwd=sesame4711",
            "file:etc/sesame4711.p8", "sesame4711:etc/key.p8", "vault://user:sesame4711@host/key",
            "file:/etc/key#sesame4711",
            "file:/etc/sesame4711 key.p8",
        ])
    func unusable(_ uri: String) throws {
        let text = Examples.least("file:/etc/privyseal/AuthKey.p8", "\"\(uri)\"")
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.faults.count == 1)
        checkSilence(error)
    }

    @Test("a URI may name a secret's source, and a label may contain such words")
    func allowed() throws {
        for uri in [
            "pkcs11:token=pin;object=secret?pin-source=file:/run/pin", "PKCS11:token=a;object=b",
            "file:/etc/passwords/pin=1/key.p8?passphrase-source=file:/p",
        ] {
            _ = try configuration(Examples.least("file:/etc/privyseal/AuthKey.p8", "\"\(uri)\""))
        }
    }

    @Test(
        "the reader does not repeat a misplaced secret",
        arguments: [
            "        pin: sesame4711\n", "        uri: sesame4711\n", "        uri: sesame4711:\n",
            "        ? {pin: sesame4711}\n        : a\n", "        \"pkcs11:a?pin-value=sesame4711\": a\n",
            "        pin-value=sesame4711: a\n", "        publicKey: sesame4711\n",
            "        publicKeyFile: sesame4711\n",
            "        pin: [sesame4711\n", "        pin: \"sesame4711\n",
            "        uri: pkcs11:a?pin-value=sesame4711: b\n",
            "        pin: &sesame4711 a\n", "        pin: *sesame4711\n", "        pin: !sesame4711 a\n",
            "       pin: sesame4711\n", "        pin: sesame4711\n        pin: sesame4711\n",
            "        uri: \"pkcs11:\\0?pin-value=sesame4711\"\n", "        keyId: {pin: sesame4711}\n",
        ])
    func elsewhere(_ line: String) throws {
        let text = Examples.least("        uri: file:/etc/privyseal/AuthKey.p8\n", line)
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        checkSilence(error)
    }

    /// 61 characters, as `privyseal clients mint` prints them.
    static let clientToken = "privyseal_sesame4711abcdefghijklmnopqrstuvwxyz-_0123456_aB3dE6"

    @Test(
        "the reader refuses a misplaced client token as leaked and does not repeat it",
        arguments: [
            ("sha256: \"1a2b3c4d00000000000000000000000000000000000000000000000000000000\"", "sha256: TOKEN"),
            ("name: shop", "name: TOKEN"), ("expires: 2027-01-01T00:00:00Z", "expires: TOKEN"),
            ("expires: 2027-01-01T00:00:00Z", "TOKEN: a"), ("name: shop", "name: shop\n    TOKEN: a"),
            ("dnsName: Shop.example.com", "dnsName: Bearer TOKEN"), ("[1001, 0]", "[TOKEN]"),
            ("uri: spiffe://example.com/shop", "uri: https://TOKEN@example.com/"),
            ("products: [\"com.example.*\"]", "products: [TOKEN]"),
            ("rate: {perSecond: 0.5", "rate: {perSecond: TOKEN"),
            ("0.0.0.0:8443", "TOKEN"), ("/etc/privyseal/tls/key.pem", "TOKEN"), ("\"0660\"", "TOKEN"),
            ("privyseal:www-data", "TOKEN"), ("connections: 100", "connections: TOKEN"),
            ("http://127.0.0.1:4318/v1/traces", "TOKEN"), ("keyId: 2X9R4HXF34", "keyId: TOKEN"),
            ("name: shop", "name: [TOKEN, {a: TOKEN}]"),
        ])
    func tokens(_ text: String, _ replacement: String) throws {
        let secret = Self.clientToken
        let text = Examples.network(text, replacement.replacing("TOKEN", with: secret))
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(
            error.faults.contains {
                $0.description.hasSuffix(
                    ": holds the token itself, which has leaked into a file; mint another with privyseal clients mint "
                        + "NAME, and put the SHA-256 that it shows under the client's tokens.")
            })
        checkSilence(error)
    }

    @Test("a client token in place of its digest gives one fault with its origin")
    func tokenForDigest() throws {
        let digest = "\"1a2b3c4d00000000000000000000000000000000000000000000000000000000\""
        #expect(
            faults(in: Examples.network(digest, Self.clientToken)) == [
                "gateway.yaml:16: clients[0].tokens[0].sha256: holds the token itself, which has leaked into a file; "
                    + "mint another with privyseal clients mint NAME, and put the SHA-256 that it shows under the client's "
                    + "tokens."
            ])
        // A truncated token is still a token. A path that begins like a token is not.
        #expect(faults(in: Examples.network(digest, String(Self.clientToken.prefix(35)))).count == 1)
        let label = "file:/etc/privyseal_keys-of-the-shop-on-this-machine/key.p8"
        #expect(faults(in: Examples.network("file:/etc/privyseal/AuthKey.p8", label)) == [])
        #expect(faults(in: Examples.least, environment: ["PRIVYSEAL_LISTEN": Self.clientToken]).count == 1)
    }

    @Test("the reader does not repeat a private key, a URL password or an invalid digest")
    func secretsElsewhere() throws {
        let pem = "\"-----BEGIN PRIVATE KEY-----\\nsesame4711\\n-----END PRIVATE KEY-----\""
        for (text, replacement, sentence) in [
            ("/etc/privyseal/tls/key.pem", pem, "holds a private key; put it into a file that only the gateway reads"),
            ("http://127.0.0.1:4318", "http://me:sesame4711@127.0.0.1:4318", "holds a user, a password"),
            ("http://127.0.0.1:4318", "sesame4711", "must begin with http:// or https://"),
            ("/etc/privyseal/tls/key.pem", "PRIVATE+KEY+log+01234567+sesame4711", "holds a private key; put it"),
            ("/v1/traces", "/v1/traces?key=sesame4711", "holds a user, a password, a query"),
            ("5e6f7a8b00000000000000000000000000000000000000000000000000000000", "sesame4711", "is not a SHA-256"),
            ("name: shop", "name: sesame4711!", "must be 1 to 63 lower-case letters"),
            ("privyseal:www-data", "sesame4711!", "must be a user, or a user and a group"),
        ] {
            let error = try #require(throws: ConfigurationError.self) {
                try configuration(Examples.network(text, replacement))
            }
            #expect(error.faults.count == 1)
            #expect(error.description.contains(": \(sentence)"))
            checkSilence(error)
        }
    }

    @Test("a printed, dumped or mirrored configuration does not show the PIN source")
    func dumps() throws {
        let text = Examples.token.replacing("/run/secrets/appstore-pin", with: "/run/" + Self.secret)
        let configuration = try configuration(text)
        #expect(configuration.accounts[0].keys[0].uri.text.contains(Self.secret))
        checkSilence(configuration)
        checkSilence(configuration.accounts[0].keys[0])
        #expect(
            configuration.accounts[0].keys[0].description
                == "2X9R4HXF34 at pkcs11:token=appstore;object=2X9R4HXF34?module-path=/usr/lib/softhsm/libsofthsm2.so")
    }

    private func checkSilence(_ value: Any) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in [dumped, String(describing: value), String(reflecting: value)] {
            #expect(!text.contains(Self.secret))
        }
    }
}
