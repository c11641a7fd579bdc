import Crypto
import SignatureExplanation
import Testing

/// A legacy answer with one mistake, and the code that the examiner must find.
struct LegacyMistake: CustomTestStringConvertible, Sendable {
    let code: FindingCode
    let detail: String
    let make: @Sendable () throws -> LegacyAnswer

    init(_ code: FindingCode, _ detail: String = "", _ make: @escaping @Sendable () throws -> LegacyAnswer) {
        self.code = code
        self.detail = detail
        self.make = make
    }

    var testDescription: String { detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)" }
}

extension LegacyMistake {
    /// One field is replaced before signing.
    static func field(
        _ code: FindingCode, _ position: Int, _ detail: String = "", in fixture: LegacyFixture = LegacyFixture(),
        _ change: @escaping @Sendable (String) -> String
    ) -> LegacyMistake {
        LegacyMistake(code, detail) {
            try fixture.answer(signing: fixture.fields([position: change(fixture.fields[position])]))
        }
    }

    /// The whole text is changed before signing.
    static func text(
        _ code: FindingCode, _ detail: String = "", _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) -> LegacyMistake {
        LegacyMistake(code, detail) {
            let fixture = LegacyFixture()
            return try fixture.answer(signingBytes: change(fixture.text))
        }
    }

    static func separator(_ code: FindingCode, _ separator: String) -> LegacyMistake {
        LegacyMistake(code, separator.debugDescription) {
            let fixture = LegacyFixture()
            return try fixture.answer(signing: fixture.fields, separator: separator)
        }
    }

    /// The right text, with the signature in another encoding.
    static func writing(
        _ code: FindingCode, _ detail: String = "",
        _ write: @escaping @Sendable (P256.Signing.ECDSASignature) throws -> String
    ) -> LegacyMistake {
        LegacyMistake(code, detail) { try LegacyFixture().answer(writing: write) }
    }
}
