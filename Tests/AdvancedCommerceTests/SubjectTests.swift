import AdvancedCommerce
import SigningKit
import SigningKitTesting
import Testing

@Suite("The subject of an in-app request")
struct SubjectTests {
    @Test("The subject lists every SKU of the four operations once, also from Base64 data")
    func operations() throws {
        #expect(try subject(SampleRequest.oneTimeCharge) == OfferSubject(products: ["s"]))
        #expect(try subject(SampleRequest.creation) == OfferSubject(products: ["s"]))
        #expect(try subject(SampleRequest.reactivation) == OfferSubject(products: ["r"], user: "7"))
        let modification = SampleRequest.modification.replacing(#""currentSKU":"s""#, with: #""currentSKU":"old""#)
        #expect(try subject(modification) == OfferSubject(products: ["s", "old", "r"], user: "7"))
        let data = #"{"requestData":"\#(SampleRequest.base64(modification))"}"#
        let input = try AdvancedCommerce().input(from: Array(data.utf8))
        #expect(AdvancedCommerce().subject(of: input) == OfferSubject(products: ["s", "old", "r"], user: "7"))
    }

    @Test(
        "The subject lists products and offers of unknown operations at any depth and in any case",
        arguments: [
            (#"{"plan":{"tiers":[[{"SKU":"a"}],[{"newSKU":"b"}]]}}"#, ["a", "b"], []),
            (#"{"sku":"a","\u0053KU":"b"}"#, ["a", "b"], []),
            (#"{"SKUs":["a",["b"]],"productIds":["c"]}"#, ["a", "b", "c"], []),
            (#"{"targetProductId":"a","PRODUCTIDENTIFIER":"b"}"#, ["a", "b"], []),
            (#"{"SKU":17}"#, ["17"], []),
            (#"{"SKU":{"SKU":"a"}}"#, ["a"], []),
            (#"{"offerIdentifier":"o","item":{"offerId":"p"}}"#, [], ["o", "p"]),
            (#"{"SKU":null,"offer":{"period":"P3D"},"description":"SKU"}"#, [], []),
            // Equal for a reader and for ==, but not for the App Store
            (#"{"SKU":"\u00e9","newSKU":"e\u0301"}"#, ["\u{E9}", "e\u{301}"], []),
            (#""SKU""#, [], []), ("[]", [], []),
        ] as [(String, [String], [String])])
    func unknown(_ request: String, _ products: [String], _ offers: [String]) throws {
        let subject = try subject(request)
        #expect(subject == OfferSubject(products: products, offers: offers))
        #expect(subject.products.count == products.count)
    }

    @Test(
        "The subject's user is the first account token or transaction ID, at any depth and case",
        arguments: [
            (#"{"requestInfo":{"appAccountToken":"u"},"transactionId":"7"}"#, "u"),
            (#"{"items":[{"originalTransactionID":"7"}]}"#, "7"), (#"{"SKU":"s"}"#, nil),
        ] as [(String, String?)])
    func user(_ request: String, _ user: String?) throws {
        #expect(try subject(request).user == user)
    }

    private func subject(_ request: String) throws -> OfferSubject {
        let feature = AdvancedCommerce(validation: .envelope)
        return feature.subject(of: try feature.input(from: Array(#"{"request":\#(request)}"#.utf8)))
    }
}
