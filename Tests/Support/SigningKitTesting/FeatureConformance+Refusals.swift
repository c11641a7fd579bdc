import SigningKit
import StrictJSON

extension FeatureConformance {
    func checkRefusals() {
        if refusals.isEmpty { fail("there is no bad input to try") }
        guard let grant = vectors.first?.grant else { return }
        for refusal in refusals {
            expectRefusal(of: refusal.body, for: grant, "\(refusal.expectation)", refusal.isMet)
        }
    }

    /// A caller that could set the time or the nonce could sign yesterday's offer again, or tomorrow's offer today.
    func checkGrantCannotBeOverridden() {
        for vector in vectors {
            for name in Self.namesOfTheGrant {
                expectRefusal(of: vector.body.adding(member: name), for: vector.grant, "unknown \(name)") { error in
                    if case .request(let error) = error { error.isUnknown && error.path == name } else { false }
                }
            }
        }
    }

    /// Inserts each unwanted character at the beginning, middle and end of each string of each vector's body.
    func checkTextsAreClean() throws {
        for vector in vectors {
            for (path, value) in try JSONDocument(parsing: vector.body).root.strings() {
                for damaged in try Self.damages(of: value.string()) {
                    let body =
                        vector.body[..<value.rawBytes.startIndex] + damaged.utf8
                        + vector.body[value.rawBytes.endIndex...]
                    expectRefusal(of: Array(body), for: vector.grant, "an error at \(path)") { error in
                        if case .request(let error) = error { error.path == path } else { false }
                    }
                }
            }
        }
    }

    private func expectRefusal(
        of body: [UInt8], for grant: Grant, _ expectation: String, _ isExpected: (FeatureError) -> Bool
    ) {
        do {
            _ = try feature.draft(from: body, for: grant)
            fail("\(body.asText)\nis accepted; expected \(expectation)")
        } catch {
            if !isExpected(error) { fail("\(body.asText)\nis refused with \(error); expected \(expectation)") }
        }
    }

    private static var namesOfTheGrant: [String] {
        [
            "nonce", "timestamp", "iat", "issuedAt", "iss", "issuerId", "aud", "bid", "bundleId", "appBundleID", "kid",
            "keyId", "keyIdentifier", "alg", "typ", "exp",
        ]
    }

    /// JSON string literals: `text` with one unwanted character inserted.
    private static func damages(of text: String) -> [String] {
        let scalars = text.unicodeScalars
        return [0, scalars.count / 2, scalars.count].flatMap { offset in
            unwantedCharacters.map { unwanted in
                let (head, tail) = (String(scalars.prefix(offset)), String(scalars.dropFirst(offset)))
                return head.quoted.dropLast() + unwanted + tail.quoted.dropFirst()
            }
        }
    }

    /// As JSON escapes, and unescaped where JSON allows it.
    private static var unwantedCharacters: [String] {
        [#"\u2063"#, "\u{2063}", #"\u0000"#, #"\n"#, #"\u001f"#, "\u{7F}", "\u{85}"]
    }
}

extension [UInt8] {
    /// The object's JSON with one more member at the front.
    fileprivate func adding(member name: String) -> [UInt8] {
        guard let brace = firstIndex(of: UInt8(ascii: "{")) else { return self }
        let isEmpty = self[(brace + 1)...].first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "}")
        return self[...brace] + Array("\"\(name)\":\"1\"\(isEmpty ? "" : ",")".utf8) + self[(brace + 1)...]
    }
}

extension JSONValue {
    /// The strings in the value, each with its path in the form that errors use.
    fileprivate func strings() throws -> [(path: String, value: JSONValue)] {
        switch kind {
        case .string: [("", self)]
        case .object:
            try anyObject().members.flatMap { name, value in
                try value.strings().map { (JSONReadError(.missing, at: $0.path).inside(name).path, $0.value) }
            }
        case .array:
            try elements().enumerated().flatMap { index, value in
                try value.strings().map { (JSONReadError(.missing, at: $0.path).inside(index: index).path, $0.value) }
            }
        case .number, .boolean, .null: []
        }
    }
}
