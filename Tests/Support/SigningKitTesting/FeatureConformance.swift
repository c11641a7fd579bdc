public import SigningKit
public import Testing

/// The contract of a feature, as checks that a plugin's tests run:
///
/// ```swift
/// @Test("keeps the contract of a feature", arguments: FeatureCheck.allCases)
/// func conformance(_ check: FeatureCheck) throws {
///     try FeatureConformance(
///         PromotionalOffer(),
///         vectors: GoldenVector.all(in: .module),
///         refusals: [FeatureRefusal(#"{"offerIdentifier":"o"}"#, .missing("productId"))],
///         form: .jws(audience: "promotional-offer", claims: ["productId", "offerIdentifier", "transactionId"]),
///         readme: "Plugins/Features/PromotionalOffer/README.md"
///     ).run(check)
/// }
/// ```
public struct FeatureConformance<Feature: SigningFeature>: Sendable {
    let feature: Feature
    let vectors: [GoldenVector]
    let refusals: [FeatureRefusal]
    let form: SignedForm
    let readme: String
    let filePath: String
    let sourceLocation: SourceLocation

    /// - Parameters:
    ///   - vectors: at least one; the other checks start from their bodies.
    ///   - refusals: at least one.
    ///   - form: the conditions that every text must satisfy that the feature asks to sign.
    ///   - readme: the path of the feature's README, relative to a folder that contains the test.
    public init(
        _ feature: Feature, vectors: [GoldenVector], refusals: [FeatureRefusal], form: SignedForm, readme: String,
        filePath: String = #filePath, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        self.feature = feature
        self.vectors = vectors
        self.refusals = refusals
        self.form = form
        self.readme = readme
        self.filePath = filePath
        self.sourceLocation = sourceLocation
    }

    public func run(_ check: FeatureCheck) throws {
        if vectors.isEmpty { fail("there are no golden vectors to start from") }
        switch check {
        case .goldenVectors: checkGoldenVectors()
        case .subject: checkSubject()
        case .determinism: checkDeterminism()
        case .refusals: checkRefusals()
        case .grantCannotBeOverridden: checkGrantCannotBeOverridden()
        case .textsAreClean: try checkTextsAreClean()
        case .mutatedInputs: checkMutatedInputs()
        case .documentation: checkDocumentation()
        }
    }

    /// - Returns: nil if the feature refuses the request; the test has then failed.
    func draft(of vector: GoldenVector) -> Draft<Feature.Output>? {
        do { return try feature.draft(from: vector.body, for: vector.grant) } catch {
            fail("\(vector.name): refused: \(error)")
            return nil
        }
    }

    func fail(_ sentence: String) {
        Issue.record("\(sentence)", sourceLocation: sourceLocation)
    }
}

/// The checks of `FeatureConformance`. A test takes them as its arguments, so that the output has a line for each.
public enum FeatureCheck: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case goldenVectors = "what is signed is byte for byte what the golden vectors say"
    case subject = "what a request is about is what the golden vectors say"
    case determinism = "the same request and grant give the same bytes"
    case refusals = "bad input is refused with the error that names it"
    case grantCannotBeOverridden = "nothing of the grant can come from a caller"
    case textsAreClean = "no string takes U+2063 or a control character"
    case mutatedInputs = "10,000 mutated requests are refused or composed well"
    case documentation = "the README has the tables of the descriptor"

    public var testDescription: String { rawValue }
}
