import Encodings
import SigningKit
import StrictJSON

extension FeatureConformance {
    func checkGoldenVectors() {
        for vector in vectors {
            guard let draft = draft(of: vector) else { continue }
            expect(draft.signingInput, vector.signingInput, "\(vector.name): the signing input")
            if let parts = vector.parts { checkParts(parts, of: draft.signingInput, vector.name) }
            if let answer = vector.answer {
                expect(draft.makeAnswer(vector.signature).jsonBytes(), answer, "\(vector.name): the answer")
            }
            if let fault = form.fault(draft.signingInput, vector.grant) { fail("\(vector.name): \(fault)") }
        }
    }

    /// The gateway passes the subject to the policy before it calls `compose`.
    func checkSubject() {
        for vector in vectors {
            guard let input = try? feature.input(from: vector.body) else {
                fail("\(vector.name): the body cannot be read")
                continue
            }
            let subject = feature.subject(of: input)
            if subject != vector.subject { fail("\(vector.name): the subject is \(subject) and not \(vector.subject)") }
        }
    }

    func checkDeterminism() {
        for vector in vectors {
            guard let first = draft(of: vector), let second = draft(of: vector) else { continue }
            expect(second.signingInput, first.signingInput, "\(vector.name): composed again")
            let answer = first.makeAnswer(vector.signature).jsonBytes()
            expect(first.makeAnswer(vector.signature).jsonBytes(), answer, "\(vector.name): answered again")
            let again = second.makeAnswer(vector.signature).jsonBytes()
            expect(again, answer, "\(vector.name): composed and answered again")
        }
    }

    private func checkParts(_ parts: GoldenVector.Parts, of signingInput: [UInt8], _ name: String) {
        let found = signingInput.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard found.count == 2 else {
            return fail("\(name): there are \(found.count) parts; header and payload are two")
        }
        expect(Base64.url.decode(found[0]) ?? [], parts.header, "\(name): the header")
        expect(Base64.url.decode(found[1]) ?? [], parts.payload, "\(name): the payload")
    }

    private func expect(_ found: [UInt8], _ expected: [UInt8], _ subject: String) {
        if found != expected { fail("\(subject) is\n\(found.asText)\nand not\n\(expected.asText)") }
    }
}

extension [UInt8] {
    /// For messages; invalid UTF-8 is replaced.
    var asText: String { String(decoding: self, as: UTF8.self) }
}
