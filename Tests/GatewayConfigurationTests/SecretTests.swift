import GatewayConfiguration
import SigningKit
import Testing

@Suite("No secret reaches a text")
struct SecretTests {
    static let secret = "sesame4711"

    @Test(
        "a PIN in the URI is refused wherever a slip puts it, and not repeated",
        arguments: [
            "pkcs11:token=a;object=b?pin-value=sesame4711", "pkcs11:token=a;object=b;pin-value=sesame4711",
            "pkcs11:token=a;object=b&pin-value=sesame4711", "pkcs11:pin-value=sesame4711",
            "pkcs11:token=a?module-path=/m&PIN-Value=sesame4711", "pkcs11:token=a?p%69n-v%61lue=sesame4711",
            "pkcs11:token=a?pin=sesame4711", "pkcs11:token=a?user-pin=sesame4711",
            "file:/etc/key.p8?passphrase=sesame4711", "file:/etc/key.p8?password=sesame4711",
            "file:/etc/key.p8?passphrase-source=file:/etc/p&pass=sesame4711",
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

    @Test("where a secret is may be said in a URI, and a label may hold such words")
    func allowed() throws {
        for uri in [
            "pkcs11:token=pin;object=secret?pin-source=file:/run/pin",
            "file:/etc/passwords/pin=1/key.p8?passphrase-source=file:/p",
        ] {
            _ = try configuration(Examples.least("file:/etc/privyseal/AuthKey.p8", "\"\(uri)\""))
        }
    }

    @Test(
        "a secret in a wrong place is not repeated",
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

    @Test("a configuration that is described, dumped or mirrored does not say where the PIN is")
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
