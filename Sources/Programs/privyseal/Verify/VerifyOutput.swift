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
        case .text:
            print(explanation.verdict)
            let remarks = explanation.isValid ? explanation.remarks : ["--explain looks for the reason."]
            for remark in remarks { StandardError.print("privyseal: \(remark)") }
        }
    }
}
