import SignatureExplanation
import StrictJSON

/// Prints an explanation: the result on standard output, remarks on standard error.
struct VerifyOutput {
    let format: OutputOption.Format
    let isExplaining: Bool

    func show(_ explanation: Explanation) {
        switch format {
        case .json: print(JSONText.string(explanation))
        case .text where isExplaining: print(explanation.report)
        case .text: brief(explanation)
        }
    }

    private func brief(_ explanation: Explanation) {
        print(explanation.verdict)
        guard explanation.isValid else {
            StandardError.print("privyseal: --explain looks for the reason.")
            return
        }
        for finding in explanation.findings {
            StandardError.print("privyseal: \(finding.severity.rawValue): \(finding.message)")
        }
    }
}
