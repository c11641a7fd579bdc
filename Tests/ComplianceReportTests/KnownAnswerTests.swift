import Foundation
import Testing

@testable import ComplianceReport

@Suite("The known-answer test")
struct KnownAnswerTests {
    private struct Vector: Decodable {
        let message: String
        let publicKey: [String: String]
        let signature: [String: String]
    }

    @Test("the known-answer test uses the published vector and passes")
    func published() throws {
        let url = try #require(Bundle.module.url(forResource: "Vectors/rfc6979", withExtension: "json"))
        let vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: url))
        #expect(KnownAnswer.message == vector.message)
        #expect(
            KnownAnswer.publicKey
                == [vector.publicKey["x"], vector.publicKey["y"]].compactMap(\.self).joined().lowercased())
        #expect(
            KnownAnswer.signature
                == [vector.signature["r"], vector.signature["s"]].compactMap(\.self).joined().lowercased())
        #expect(KnownAnswer.holds)
    }
}
