import SigningKit
import Testing

@Suite("Key URIs")
struct KeyURITests {
    @Test(
        "the description omits the parts that lead to a secret",
        arguments: [
            (
                "pkcs11:token=t;object=o?module-path=/m.so&pin-source=file:/s",
                "pkcs11:token=t;object=o?module-path=/m.so"
            ),
            ("pkcs11:object=o?pin-value=1234", "pkcs11:object=o"),
            ("pkcs11:object=o?PIN-Value=1234", "pkcs11:object=o"),
            ("pkcs11:object=o?pin-value=1234&module-name=m", "pkcs11:object=o?module-name=m"),
            ("file:/k.p8?passphrase-source=file:/s", "file:/k.p8"),
            ("file:/k.p8?passphrase=1234", "file:/k.p8"),
            ("file:/k.p8?secret=1234", "file:/k.p8"),
            // By mistake in the path, or after a semicolon
            ("pkcs11:object=o;pin-value=1234", "pkcs11:object=o"),
            ("pkcs11:pin-value=1234;object=o", "pkcs11:object=o"),
            ("pkcs11:object=o?module-path=/m.so;pin-value=1234", "pkcs11:object=o"),
            ("file:/etc/pinguin/k.p8", "file:/etc/pinguin/k.p8"),
            // Names that do not look like secrets
            ("file:/k.p8?pwd=1234", "file:/k.p8"), ("file:/k.p8?pw=1234", "file:/k.p8"),
            ("file:/k.p8?key=1234", "file:/k.p8"), ("file:/k.p8?token=1234", "file:/k.p8"),
            ("file:/k.p8?1234", "file:/k.p8"), ("file:/k.p8;pwd=1234", "file:/k.p8"),
            ("file://user:1234@host/k.p8", "file://host/k.p8"), ("vault://a@b:1234@host/k", "vault://host/k"),
            ("FILE:/k.p8", "file:/k.p8"),
        ])
    func redaction(_ text: String, _ description: String) throws {
        let uri = try KeyURI(text)
        #expect(uri.description == description)
        #expect(uri.debugDescription == description)
        var dumped = ""
        dump(uri, to: &dumped)
        dump([uri], to: &dumped)
        #expect(!dumped.contains("1234"))
        #expect(!"\(KeySelector(uri)) \(KeyLocator(uri)) \([uri])".contains("1234"))
        #expect(uri.text == text)
    }

    @Test("a key URI has a scheme, a path and attributes")
    func parts() throws {
        let uri = try KeyURI("PKCS11:token=a%20b;object=o?module-path=/m.so&pin-source=file:/s?x")
        #expect(uri.scheme == "pkcs11")
        #expect(uri.path == "token=a%20b;object=o")
        #expect(uri.query == ["module-path=/m.so", "pin-source=file:/s?x"])
        #expect(try KeyURI("file:/a").query.isEmpty)
    }

    @Test(
        "a key URI must have a scheme and a rest",
        arguments: [
            "", ":", "/etc/key.p8", "file:", "1file:/a", "fi le:/a", "fílé:/a", ":a", "file:/a#b", "pkcs11:token=a#b",
        ])
    func invalid(_ text: String) {
        #expect { try KeyURI(text) } throws: {
            if case .invalidURI = $0 as? KeyError { true } else { false }
        }
    }
}
