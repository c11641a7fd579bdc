import PKCS11Token
import SigningKit
import Testing

@Suite("PKCS #11 addresses")
struct AddressTests {
    private static let module = "module-path=/usr/lib/softhsm/libsofthsm2.so"
    private static let full = "pkcs11:token=shop;object=KEY;id=%01%02?\(module)&pin-source=file:/run/pin"

    private func address(_ text: String) throws -> KeyAddress {
        try PKCS11TokenBackend.address(of: KeyURI(text))
    }

    @Test("key attributes form the selector, and all others form the locator")
    func split() throws {
        let address = try address(Self.full)
        #expect(address.locator.uri.text == "pkcs11:token=shop?\(Self.module)&pin-source=file:/run/pin")
        #expect(address.selector.uri.text == "pkcs11:id=%01%02;object=KEY;type=private")
    }

    @Test("two keys on one token have one locator, whatever the order and spelling of their URIs")
    func oneLocator() throws {
        let one = try address("pkcs11:object=A;token=my%20shop;serial=1?\(Self.module)&pin-source=file:/run/pin")
        let other = try address("pkcs11:serial=%31;token=%6dy%20shop;id=%01?pin-source=file:/run/pin&\(Self.module)")
        #expect(one.locator == other.locator)
        #expect(one.selector != other.selector)
        let elsewhere = try address("pkcs11:serial=1;token=my%20shop;id=%01?pin-source=file:/other&\(Self.module)")
        #expect(one.locator != elsewhere.locator)
    }

    @Test(
        "an unusable URI is refused with an explanation",
        arguments: [
            ("pkcs11:object=KEY?module-path=/m.so", "name the token"),
            ("pkcs11:slot-id=3;object=KEY?module-path=/m.so", "slot numbers change"),
            ("pkcs11:token=;object=KEY?module-path=/m.so", "name the token"),
            ("pkcs11:token=shop?module-path=/m.so&init-args=", "init-args must be 1 to 1024 bytes"),
            ("pkcs11:token=shop?module-path=/m.so&init-args=a%00b", "init-args holds a NUL"),
            ("pkcs11:token=shop;object=KEY", "module-path"),
            ("pkcs11:token=shop;object=KEY?module-path=m.so", "absolute"),
            ("pkcs11:token=shop;object=KEY?module-name=../m", "module-name"),
            ("pkcs11:token=shop;object=KEY?module-path=/m.so&module-name=m", "twice"),
            ("pkcs11:token=shop;token=other?module-path=/m.so", "token twice"),
            ("pkcs11:token=shop;lable=KEY?module-path=/m.so", "lable is not"),
            ("pkcs11:token=shop;slot-description=x?module-path=/m.so", "slot-description is not"),
            ("pkcs11:token=shop?module-path=/m.so&colour=red", "colour is not"),
            ("pkcs11:token=shop;type=public?module-path=/m.so", "type must be private"),
            ("pkcs11:token=shop;object=%4?module-path=/m.so", "%XX"),
            ("pkcs11:token=shop;object?module-path=/m.so", "name=value"),
            ("pkcs11:token=shop?module-path=/m.so&pin-source=/run/pin", "file:/absolute/path or credential:NAME"),
            ("pkcs11:token=shop?module-path=/m.so&pin-source=file:run/pin", "file:/absolute/path"),
            ("pkcs11:token=shop?module-path=/m.so&pin-source=file:%00/run/pin", "pin-source holds a NUL"),
            ("pkcs11:token=shop?module-path=/m.so&pin-source=file:/run/pin%00.old", "pin-source holds a NUL"),
            ("pkcs11:token=shop?module-path=/m.so%00.old", "module-path holds a NUL"),
            ("pkcs11:token=shop?module-name=m%00", "module-name holds a NUL"),
            ("pkcs11:token=%00?module-path=/m.so", "token holds a NUL"),
            ("pkcs11:token=shop;object=a%00b?module-path=/m.so", "object holds a NUL"),
            ("pkcs11:token=\(String(repeating: "x", count: 33))?module-path=/m.so", "more than the 32 bytes"),
            ("pkcs11:serial=\(String(repeating: "1", count: 17))?module-path=/m.so", "more than the 16 bytes"),
            ("pkcs11:token=shop;slot-id=18446744073709551616?module-path=/m.so", "slot-id must be a decimal number"),
            ("pkcs11:token=shop;slot-id=4294967295?module-path=/m.so", "below 4294967295"),
            ("pkcs11:token=shop;slot-id=0x1f?module-path=/m.so", "0x1F is 31"),
            ("pkcs11:token=shop;slot-id=-1?module-path=/m.so", "slot-id must be a decimal number"),
            ("pkcs11:token=shop;slot-id=?module-path=/m.so", "slot-id must be a decimal number"),
            ("pkcs11:token=shop?module-path=/m.so&pin-source=%7Ccat%20/x", "runs a command"),
            ("pkcs11:token=shop?module-path=/m.so&pin-source=|cat /x", "runs a command"),
            ("pkcs11:token=shop?module-path=/m.so&pin-value=8642", "pin-value"),
            ("pkcs11:token=shop;pin-value=8642?module-path=/m.so", "pin-value"),
            ("file:/key.p8", "scheme"), ("pkcs11:token=shop#x;object=KEY?module-path=/m.so", "write %23"),
        ])
    func refused(_ uri: String, _ mention: String) throws {
        let error = #expect(throws: KeyError.self) { try address(uri) }
        guard case .invalidURI(let sentence) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sentence.contains(mention), "\(sentence)")
    }

    @Test("the refusal does not repeat a PIN or a command in a URI")
    func pinStaysSecret() throws {
        for attribute in [
            "pin-value=8642", "pin-source=%7Ccat%208642", "pin-source=8642", "p8642=x", "8642", "pwd=8642",
        ] {
            let error = #expect(throws: KeyError.self) {
                try address("pkcs11:token=shop;object=KEY?\(Self.module)&\(attribute)")
            }
            #expect(!String(reflecting: error).contains("8642"))
        }
    }

    @Test("an address does not show the PIN source")
    func pinSourceStaysSecret() throws {
        var text = ""
        dump(try address(Self.full), to: &text)
        #expect(text.contains("token=shop"))
        #expect(!text.contains("/run/pin"))
    }

    @Test("keys of modules with different arguments have different locators")
    func arguments() throws {
        let one = try address("pkcs11:token=shop?\(Self.module)&init-args=configdir%3D%27/etc/nss%27")
        let other = try address("pkcs11:token=shop?\(Self.module)")
        #expect(one.locator != other.locator)
        #expect(one.locator.uri.text.contains("init-args=configdir%3D%27/etc/nss%27"))
    }

    @Test("an address may have a slot number and a credential as PIN source")
    func accepted() throws {
        _ = try address("pkcs11:token=shop;slot-id=3;object=KEY?\(Self.module)&pin-source=credential:shop-pin")
        _ = try address("pkcs11:serial=1?module-name=softhsm2")
        _ = try address("pkcs11:token=shop;slot-id=4294967294;id=%00%01?\(Self.module)")
    }
}
