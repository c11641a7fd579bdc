import PKCS11
import Testing

@Suite("PKCS #11 URIs")
struct URITests {
    @Test("the parser unescapes the attributes of a URI")
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

    @Test("missing attributes are nil")
    func absent() throws {
        let uri = try PKCS11URI("pkcs11:token=shop")
        #expect(uri.modulePath == nil && uri.moduleName == nil && uri.pinSource == nil && uri.slotID == nil)
        #expect(uri.objectAttributes.isEmpty)
    }

    @Test(
        "the refusal of an invalid URI does not repeat it",
        arguments: [
            "file:/x8642", "pkcs11:token=%zz8642", "pkcs11:8642", "8642", "pkcs11:token=a\u{0}8642",
        ])
    func refused(_ text: String) {
        let error = #expect(throws: PKCS11URIError.self) { try PKCS11URI(text) }
        #expect(error?.reason.isEmpty == false)
        #expect(error?.reason.contains("8642") == false)
    }

    @Test("the parser detects an unknown attribute")
    func unknown() throws {
        #expect(try PKCS11URI("pkcs11:token=shop;colour=red").hasUnknownAttributes)
    }
}
