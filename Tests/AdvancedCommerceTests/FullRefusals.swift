import SigningKitTesting
import StrictJSON

/// Bodies that only full validation refuses. Each row damages one part of a valid request.
enum FullRefusals {
    static let all = [envelope, oneTimeCharge, creation, items, offers, modification, reactivation].flatMap(\.self)

    private static let envelope: [FeatureRefusal] = [
        damage(
            SampleRequest.creation, "CREATE_SUBSCRIPTION", "CANCEL_SUBSCRIPTION",
            .invalid("operation", saying: "one of")),
        damage(
            SampleRequest.creation, "CREATE_SUBSCRIPTION", "create_subscription",
            .invalid("operation", saying: "one of")),
        damage(SampleRequest.creation, #""version":"1""#, #""version":"2""#, .invalid("version", saying: "must be 1")),
        damage(
            SampleRequest.creation, #"77bb"}"#, #"77b"}"#, .invalid("requestInfo.requestReferenceId", saying: "UUID")),
        damage(
            SampleRequest.creation, "requestReferenceId", "requestReferenceID",
            .unknown("requestInfo.requestReferenceID")),
        damage(
            SampleRequest.creation, #"77bb"}"#, #"77bb","appAccountToken":"me"}"#,
            .invalid("requestInfo.appAccountToken", saying: "UUID")),
        // Null means absent only for an optional member.
        damage(
            SampleRequest.creation, #""11aa22bb-33cc-44dd-88ee-55ff66aa77bb""#, "null",
            .wrongKind("requestInfo.requestReferenceId", expected: .string, found: .null)),
        damage(
            SampleRequest.creation, #""C003-00-1""#, "null", .wrongKind("taxCode", expected: .string, found: .null)),
        damage(
            SampleRequest.modification, #","description":"d"},"period"#,
            #","displayName":null,"description":null},"period"#,
            .invalid("descriptors", saying: "displayName")),
        damage(
            SampleRequest.creation, #"77bb"}"#, #"77bb","consistencyToken":"t"},"previousTransactionId":null"#,
            .invalid("requestInfo.consistencyToken", saying: "previousTransactionId")),
        FeatureRefusal(
            #"{"requestData":"\#(SampleRequest.base64(SampleRequest.creation.replacing(#"KU":"s""#, with: #"KU":"""#)))"}"#,
            .invalid("requestData.items[0].SKU", saying: "empty")),
    ]

    private static let oneTimeCharge: [FeatureRefusal] = [
        damage(SampleRequest.oneTimeCharge, #""currency":"USD","#, "", .missing("currency")),
        damage(SampleRequest.oneTimeCharge, #""taxCode":"C003-00-2","#, "", .missing("taxCode")),
        damage(SampleRequest.oneTimeCharge, #""item":{\#(SampleRequest.item)},"#, "", .missing("item")),
        damage(SampleRequest.oneTimeCharge, #""item":"#, #""items":"#, .unknown("items")),
        damage(
            SampleRequest.oneTimeCharge, #""price":1990"#, #""price":1990,\#(SampleRequest.offer)"#,
            .unknown("item.offer")),
        damage(
            SampleRequest.oneTimeCharge, #""USA""#, #""us""#, .invalid("storefront", saying: "three capital letters")),
        damage(SampleRequest.oneTimeCharge, "USD", "usd", .invalid("currency", saying: "AED, AUD")),
        // U+212A KELVIN SIGN: Swift's String treats it as equal to "K".
        damage(SampleRequest.oneTimeCharge, "USD", "\u{212A}RW", .invalid("currency", saying: "AED, AUD")),
        damage(SampleRequest.oneTimeCharge, "USD", "XAU", .invalid("currency", saying: "ZAR")),
        damage(
            SampleRequest.oneTimeCharge, #"77bb"}"#, #"77bb","consistencyToken":"t"}"#,
            .invalid("requestInfo.consistencyToken", saying: "one-time charge")),
    ]

    private static let creation: [FeatureRefusal] = [
        damage(SampleRequest.creation, #""period":"P1M","#, "", .missing("period")),
        damage(
            SampleRequest.creation, #""P1M""#, #""P4M""#, .invalid("period", saying: "P1W, P1M, P2M, P3M, P6M, P1Y")),
        damage(
            SampleRequest.creation, #""descriptors":{"#, #""descriptors":{"effective":"IMMEDIATELY","#,
            .unknown("descriptors.effective")),
        damage(
            SampleRequest.creation, #"{"displayName":"n","description":"d"}"#, #"{"displayName":"n"}"#,
            .missing("descriptors.description")),
        damage(SampleRequest.creation, #"[{\#(SampleRequest.item)}]"#, "[]", .invalid("items", saying: "empty")),
        damage(
            SampleRequest.creation, #"[{\#(SampleRequest.item)}]"#, "[null]",
            .wrongKind("items[0]", expected: .object, found: .null)),
        damage(
            SampleRequest.creation, #"[{\#(SampleRequest.item)}]"#, "{}",
            .wrongKind("items", expected: .array, found: .object)),
        damage(
            SampleRequest.creation, #"77bb"}"#, #"77bb","consistencyToken":"t"}"#,
            .invalid("requestInfo.consistencyToken", saying: "previousTransactionId")),
    ]

    private static let items: [FeatureRefusal] = [
        damage(SampleRequest.creation, #""SKU""#, #""sku""#, .unknown("items[0].sku")),
        damage(SampleRequest.creation, #""SKU":"s","#, "", .missing("items[0].SKU")),
        damage(
            SampleRequest.creation, #""SKU":"s""#, #""SKU":"\#(String(repeating: "s", count: 129))""#,
            .invalid("items[0].SKU", saying: "129")),
        damage(SampleRequest.creation, #""SKU":"s""#, #""SKU":"s\u200d""#, .invalid("items[0].SKU", saying: "U+200D")),
        damage(SampleRequest.creation, #""SKU":"s""#, #""SKU":"s\u00a0""#, .invalid("items[0].SKU", saying: "U+00A0")),
        damage(SampleRequest.creation, #""SKU":"s""#, #""SKU":" ""#, .invalid("items[0].SKU", saying: "white space")),
        damage(
            SampleRequest.creation, #"{"displayName":"n","description":"d"}"#,
            #"{"displayName":"n","description":"d\u3000"}"#, .invalid("descriptors.description", saying: "U+3000")),
        // 16 grapheme clusters, 32 UTF-16 code units
        damage(
            SampleRequest.creation, #""displayName":"n","description":"d","price""#,
            #""displayName":"\#(String(repeating: "🚀", count: 16))","description":"d","price""#,
            .invalid("items[0].displayName", saying: "32 characters")),
        damage(
            SampleRequest.creation, #""description":"d","price""#,
            #""description":"\#(String(repeating: "d", count: 46))","price""#,
            .invalid("items[0].description", saying: "at most 45")),
        damage(SampleRequest.creation, "1990", "-10", .invalid("items[0].price", saying: "negative")),
        damage(SampleRequest.creation, "1990", "19.90", .invalid("items[0].price", saying: "integer")),
        damage(SampleRequest.creation, "1990", "1991", .invalid("items[0].price", saying: "multiple of 10")),
        damage(SampleRequest.creation, "1990", "9223372036854775808", .invalid("items[0].price", saying: "64 bits")),
        damage(
            SampleRequest.creation, "1990", #""1990""#, .wrongKind("items[0].price", expected: .number, found: .string)),
        damage(SampleRequest.creation, "USD", "JPY", .invalid("items[0].price", saying: "JPY has 0 decimals")),
    ]

    private static let offers: [FeatureRefusal] = [
        damageOffer("P3D", "P4D", .invalid("items[0].offer.period", saying: "P9M")),
        damageOffer("12", "13", .invalid("items[0].offer.periodCount", saying: "from 1 to 12")),
        damageOffer("12", "0", .invalid("items[0].offer.periodCount", saying: "from 1 to 12")),
        damageOffer(#""price":0"#, #""price":5"#, .invalid("items[0].offer.price", saying: "multiple of 10")),
        damageOffer(
            "WIN_BACK", "WINBACK", .invalid("items[0].offer.reason", saying: "ACQUISITION, WIN_BACK, RETENTION")),
        damageOffer(
            "WIN_BACK", "WIN_BAC\u{212A}", .invalid("items[0].offer.reason", saying: "ACQUISITION, WIN_BACK, RETENTION")
        ),
        damageOffer(#""period":"P3D","#, "", .missing("items[0].offer.period")),
        damageOffer(#""periodCount":12,"#, "", .missing("items[0].offer.periodCount")),
        damageOffer(#""price":0,"#, "", .missing("items[0].offer.price")),
        damageOffer(#","reason":"WIN_BACK""#, "", .missing("items[0].offer.reason")),
    ]

    private static let modification: [FeatureRefusal] = [
        damage(SampleRequest.modification, #""transactionId":"7","#, "", .missing("transactionId")),
        damage(SampleRequest.modification, #""retainBillingCycle":true,"#, "", .missing("retainBillingCycle")),
        damage(
            SampleRequest.modification, "true", #""true""#,
            .wrongKind("retainBillingCycle", expected: .boolean, found: .string)),
        damage(
            SampleRequest.modification, "true", "false",
            .invalid("periodChange.effective", saying: "retainBillingCycle")),
        damage(
            SampleRequest.modification.replacing(
                #","periodChange":{"effective":"NEXT_BILL_CYCLE","period":"P1Y"}"#, with: ""),
            "true", "false", .invalid("changeItems[0].effective", saying: "retainBillingCycle")),
        damage(SampleRequest.modification, #""currentSKU":"s","#, "", .missing("changeItems[0].currentSKU")),
        damage(
            SampleRequest.modification, "DOWNGRADE", "CROSSGRADE",
            .invalid("changeItems[0].reason", saying: "APPLY_OFFER")),
        damage(
            SampleRequest.modification, #""proratedPrice":10"#, #""proratedPrice":11"#,
            .invalid("addItems[0].proratedPrice", saying: "no currency")),
        damage(SampleRequest.modification, #"[{"SKU":"r"}]"#, "[]", .invalid("removeItems", saying: "empty")),
        damage(
            SampleRequest.modification, #"{"SKU":"r"}"#, #"{"SKU":"r","price":10}"#, .unknown("removeItems[0].price")),
        damage(
            SampleRequest.modification, #","description":"d"},"period"#, #"},"period"#,
            .invalid("descriptors", saying: "displayName")),
        damage(SampleRequest.modification, #""effective":"IMMEDIATELY","#, "", .missing("descriptors.effective")),
        damage(
            SampleRequest.modification, "IMMEDIATELY", "NOW",
            .invalid("descriptors.effective", saying: "NEXT_BILL_CYCLE")),
        damage(
            SampleRequest.modification, #""period":"P1Y""#, #""period":"P9M""#,
            .invalid("periodChange.period", saying: "P6M")),
        damage(
            SampleRequest.modification, #""retain"#, #""previousTransactionId":"6","retain"#,
            .unknown("previousTransactionId")),
    ]

    private static let reactivation: [FeatureRefusal] = [
        damage(SampleRequest.reactivation, #""transactionId":"7","#, "", .missing("transactionId")),
        damage(SampleRequest.reactivation, #"[{"SKU":"r"}]"#, "[]", .invalid("items", saying: "empty")),
        damage(SampleRequest.reactivation, #""7""#, #""""#, .invalid("transactionId", saying: "empty")),
        damage(
            SampleRequest.reactivation, #""7""#, "7", .wrongKind("transactionId", expected: .string, found: .number)),
        damage(SampleRequest.reactivation, #""items""#, #""currency":"USD","items""#, .unknown("currency")),
    ]

    /// - Parameter expectation: with its path seen from the request.
    private static func damage(
        _ request: String, _ part: String, _ other: String, _ expectation: FeatureRefusal.Expectation
    ) -> FeatureRefusal {
        let damaged = request.replacing(part, with: other)
        precondition(damaged != request, "\(part) is not in \(request)")
        return FeatureRefusal(#"{"request":\#(damaged)}"#, expectation.inside("request"))
    }

    private static func damageOffer(
        _ part: String, _ other: String, _ expectation: FeatureRefusal.Expectation
    ) -> FeatureRefusal {
        let offer = SampleRequest.offer.replacing(part, with: other)
        return damage(SampleRequest.creation, #""price":1990"#, #""price":1990,\#(offer)"#, expectation)
    }
}

extension FeatureRefusal.Expectation {
    fileprivate func inside(_ name: String) -> Self {
        switch self {
        case .body: self
        case .missing(let path): .missing("\(name).\(path)")
        case .unknown(let path): .unknown("\(name).\(path)")
        case .wrongKind(let path, let expected, let found):
            .wrongKind("\(name).\(path)", expected: expected, found: found)
        case .invalid(let path, let words): .invalid("\(name).\(path)", saying: words)
        }
    }
}
