// For normalisation: the standard library's own functions are not public.
import Foundation

/// The normalisation forms of Unicode Standard Annex #15.
enum UnicodeForm: String, CaseIterable, Sendable {
    case composed = "NFC"
    case decomposed = "NFD"
    case compatible = "NFKC"

    func apply(_ text: String) -> String {
        switch self {
        case .composed: text.precomposedStringWithCanonicalMapping
        case .decomposed: text.decomposedStringWithCanonicalMapping
        case .compatible: text.precomposedStringWithCompatibilityMapping
        }
    }
}
