import PKCS11
import Testing

@Suite("PKCS #11 URIs")
struct URITests {
    @Test("the attributes of a URI come out unescaped")
    func attributes() throws {
        let uri = try PKCS11URI(
            "pkcs11:token=my%20shop;slot-id=7;object=KEY;id=%01%ff?module-path=/m.so&module-name=m&pin-source=file:/run/pin"
        )
        #expect(uri.modulePath == "/m.so")
        #expect(uri.moduleName == "m")
        #expect(uri.pinSource == "file:/run/pin")
        #expect(uri.slotID == SlotID(rawValue: 7))
        #expect(!uri.hasUnknownAttributes)
        #expect(Set(uri.objectAttributes) == [Attribute(.label, text: "KEY"), Attribute(.id, bytes: [1, 0xFF])])
    }

    @Test("what is not given is nil")
    func absent() throws {
        let uri = try PKCS11URI("pkcs11:token=shop")
        #expect(uri.modulePath == nil && uri.moduleName == nil && uri.pinSource == nil && uri.slotID == nil)
        #expect(uri.objectAttributes.isEmpty)
    }

    @Test(
        "a URI that cannot be read is refused without being repeated",
        arguments: [
            "file:/x8642", "pkcs11:token=%zz8642", "pkcs11:8642", "8642", "pkcs11:token=a\u{0}8642",
        ])
    func refused(_ text: String) {
        let error = #expect(throws: PKCS11URIError.self) { try PKCS11URI(text) }
        #expect(error?.reason.isEmpty == false)
        #expect(error?.reason.contains("8642") == false)
    }

    @Test("an attribute that nobody knows is noticed")
    func unknown() throws {
        #expect(try PKCS11URI("pkcs11:token=shop;colour=red").hasUnknownAttributes)
    }
}
