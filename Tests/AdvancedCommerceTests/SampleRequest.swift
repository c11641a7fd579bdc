import Encodings

/// Valid requests, one for each operation, which the tables damage; and valid variations of them.
enum SampleRequest {
    static let oneTimeCharge = """
        {"operation":"CREATE_ONE_TIME_CHARGE","version":"1",\(info),"currency":"USD","taxCode":"C003-00-2",\
        "item":{\(item)},"storefront":"USA"}
        """

    static let creation = """
        {"operation":"CREATE_SUBSCRIPTION","version":"1",\(info),"currency":"USD","taxCode":"C003-00-1",\
        "descriptors":{"displayName":"n","description":"d"},"period":"P1M","items":[{\(item)}]}
        """

    static let modification = """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1",\(info),"transactionId":"7","retainBillingCycle":true,\
        "addItems":[{\(item),"proratedPrice":10}],\
        "changeItems":[{"currentSKU":"s",\(item),"effective":"NEXT_BILL_CYCLE","reason":"DOWNGRADE"}],\
        "removeItems":[{"SKU":"r"}],\
        "descriptors":{"effective":"IMMEDIATELY","description":"d"},\
        "periodChange":{"effective":"NEXT_BILL_CYCLE","period":"P1Y"}}
        """

    static let reactivation =
        #"{"operation":"REACTIVATE_SUBSCRIPTION","version":"1",\#(info),"transactionId":"7","items":[{"SKU":"r"}]}"#

    static let info = #""requestInfo":{"requestReferenceId":"11aa22bb-33cc-44dd-88ee-55ff66aa77bb"}"#
    static let item = #""SKU":"s","displayName":"n","description":"d","price":1990"#
    static let offer = #""offer":{"period":"P3D","periodCount":12,"price":0,"reason":"WIN_BACK"}"#

    static let accepted: [String] = [
        oneTimeCharge, creation, modification, reactivation,
        oneTimeCharge.replacing(#","storefront":"USA""#, with: ""),
        oneTimeCharge.replacing(#""price":1990"#, with: #""price":9223372036854775800"#),
        oneTimeCharge.replacing(#""price":1990"#, with: #""price":0"#),
        oneTimeCharge.replacing("USD", with: "JPY").replacing("1990", with: "2000"),
        oneTimeCharge.replacing(#""SKU":"s""#, with: #""SKU":"\#(String(repeating: "s", count: 128))""#),
        oneTimeCharge.replacing(#"":"n""#, with: #"":"\#(String(repeating: "n", count: 30))""#),
        oneTimeCharge.replacing(#"":"d""#, with: #"":"\#(String(repeating: "é", count: 45))""#),
        oneTimeCharge.replacing(#"":"n""#, with: #"":"👩\u200d🚀""#),
        creation.replacing(#""price":1990"#, with: #""price":1990,\#(offer)"#),
        creation.replacing(#"77bb"}"#, with: #"77bb","consistencyToken":"t"},"previousTransactionId":"7""#),
        creation.replacing(#"77bb"}"#, with: #"77BB"},"previousTransactionId":"7""#),
        modification.replacing("NEXT_BILL_CYCLE", with: "IMMEDIATELY").replacing("true", with: "false"),
        modification.replacing(#""transactionId""#, with: #""currency":"TRY","taxCode":"C","transactionId""#),
        #"{"operation":"REACTIVATE_SUBSCRIPTION","version":"1",\#(info),"transactionId":"7","storefront":"XKS"}"#,
    ]

    /// Requests as Apple's Java library writes them: null for each optional member that is not set (Jackson without an
    /// inclusion rule; app-store-server-library-java, AdvancedCommerce*InAppRequest).
    static let withNulls: [String] = [
        """
        {"operation":"CREATE_ONE_TIME_CHARGE","version":"1",\(nullInfo),"currency":"USD","item":{\(item)},\
        "storefront":null,"taxCode":"C003-00-2"}
        """,
        """
        {"operation":"CREATE_SUBSCRIPTION","version":"1",\(nullInfo),"currency":"USD",\
        "descriptors":{"description":"d","displayName":"n"},"items":[{\(item),"offer":null}],"period":"P1M",\
        "previousTransactionId":null,"storefront":null,"taxCode":"C003-00-1"}
        """,
        """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1",\(nullInfo),"addItems":null,"changeItems":null,"currency":null,\
        "descriptors":null,"periodChange":null,"removeItems":null,"retainBillingCycle":false,"storefront":null,\
        "taxCode":null,"transactionId":"7"}
        """,
        """
        {"operation":"MODIFY_SUBSCRIPTION","version":"1",\(nullInfo),"addItems":[{\(item),"offer":null,"proratedPrice":null}],\
        "changeItems":[{\(item),"currentSKU":"o","effective":"IMMEDIATELY","offer":null,"proratedPrice":null,\
        "reason":"UPGRADE"}],"currency":null,"descriptors":{"description":null,"displayName":"n","effective":"IMMEDIATELY"},\
        "periodChange":null,"removeItems":null,"retainBillingCycle":false,"storefront":null,"taxCode":null,\
        "transactionId":"7"}
        """,
        """
        {"operation":"REACTIVATE_SUBSCRIPTION","version":"1",\(nullInfo),"items":null,"storefront":null,"transactionId":"7"}
        """,
    ]

    private static let nullInfo = """
        "requestInfo":{"appAccountToken":null,"consistencyToken":null,\
        "requestReferenceId":"11aa22bb-33cc-44dd-88ee-55ff66aa77bb"}
        """

    static func base64(_ text: String) -> String {
        String(decoding: Base64.standard.encode(text.utf8), as: UTF8.self)
    }
}

extension String {
    func replacing(_ part: String, with other: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
    }
}
