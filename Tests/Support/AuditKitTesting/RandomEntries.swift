package import AuditKit
import SigningKit

/// Entries of every kind that queries match. They have few different values, so that queries find some.
package struct RandomEntries {
    private var generator: SplitMix
    private var time: Int64 = 1_795_000_000_000
    private var serial = 0

    package init(seed: UInt64) {
        generator = SplitMix(state: seed)
    }

    package mutating func bodies(_ count: Int) -> [[UInt8]] { (0..<count).map { _ in body() } }

    private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

    private mutating func body() -> [UInt8] {
        // The clock is sometimes set back by 20 s.
        time += Int64(number(4000)) - (number(50) == 0 ? 20_000 : 0)
        serial += 1
        let moment = String(decoding: Timestamp(milliseconds: time).rfc3339, as: UTF8.self)
        let client = #""client":"client-\#(number(4))""#
        let subject = #""offers":["offer-\#(number(3))"],"products":[\#(products())]"#
        let text =
            switch number(12) {
            case 0:
                #"{\#(client),"kind":"refusal","reason":"invalid-request","requestId":"r-\#(serial)","status":400,"time":"\#(moment)","v":1}"#
            case 1:
                #"{\#(client),"counts":{"forbidden":\#(number(9) + 1),"rate-limited":\#(number(9) + 1)},"kind":"refusals","minute":"\#(moment)","time":"\#(moment)","v":1}"#
            case 2: #"{"kind":"idle","time":"\#(moment)","v":1}"#
            case 3: #"{"key":"KEY\#(number(2))","kind":"key","state":"ready","time":"\#(moment)","v":1}"#
            case 4 where number(20) == 0: "not an entry at all"
            // Without a time, which the gateway always writes.
            case 4 where number(20) == 0: #"{\#(client),"kind":"signature","requestId":"r-\#(serial)","v":1}"#
            default:
                #"{"app":"app-\#(number(2))",\#(client),"digest":"d-\#(serial)",\#(expires(moment))"feature":"feature-\#(number(3))",\#(item())"key":"KEY\#(number(2))","kind":"signature","nonce":"n-\#(serial)",\#(subject),"requestId":"r-\#(serial)","time":"\#(moment)","took":{"key":\#(number(90)),"request":\#(number(90))},"user":"user-\#(number(50))","v":1}"#
            }
        return Array(text.utf8)
    }

    private mutating func expires(_ moment: String) -> String { number(6) == 0 ? #""expires":"\#(moment)","# : "" }

    private mutating func item() -> String { number(4) == 0 ? #""item":\#(number(50)),"# : "" }

    private mutating func products() -> String {
        // Two encodings of one letter: different bytes, so different products.
        let names = ["caf\u{e9}", "cafe\u{301}", #"with \"quotes\""#, "plan.1", "plan.2", "plan.3"]
        let first = number(names.count)
        let second = number(3) == 0 ? #","\#(names[number(names.count)])""# : ""
        return number(300) == 0 ? #""rare""# : #""\#(names[first])"\#(second)"#
    }

    // MARK: Queries

    package mutating func query() -> AuditQuery {
        var query = AuditQuery()
        query.isLatestFirst = number(2) == 0
        for _ in 0..<number(4) {
            let term = AuditTerm.allCases[number(AuditTerm.allCases.count)]
            query.terms[term] = value(of: term)
        }
        let start = 1_795_000_000_000 as Int64
        if number(3) == 0 { query.since = Timestamp(milliseconds: Int64.random(in: start...time, using: &generator)) }
        if number(3) == 0 { query.until = Timestamp(milliseconds: Int64.random(in: start...time, using: &generator)) }
        return query
    }

    private mutating func value(of term: AuditTerm) -> String {
        switch term {
        case .client: "client-\(number(5))"
        case .app: "app-\(number(3))"
        case .feature: "feature-\(number(3))"
        case .product: ["caf\u{e9}", "cafe\u{301}", #"with "quotes""#, "plan.1", "rare", "no"][number(6)]
        case .offer: "offer-\(number(4))"
        case .key: "KEY\(number(2))"
        case .outcome: ["signed", "invalid-request", "forbidden", "rate-limited", "ready", "no"][number(6)]
        case .requestID: "r-\(number(serial + 10))"
        case .kind: ["signature", "refusal", "refusals", "idle", "key"][number(5)]
        case .user: "user-\(number(60))"
        case .lifetime: ["long", "no"][number(2)]
        }
    }
}

/// splitmix64 by Sebastiano Vigna.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
