import ComplianceReport
import Foundation
import StrictJSON

/// Reads the heads of the records of drills in a directory.
struct DrillSurvey {
    private let directory: String?

    /// - Parameter directory: nil where the configuration names none.
    init(_ directory: String?) {
        self.directory = directory
    }

    var findings: DrillFindings {
        guard let directory else { return .none }
        // Until the first drill there is no directory.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var drills: [DrillFinding] = []
        var complaints: [String] = []
        for name in names.sorted() where name.hasSuffix(".json") {
            let path = "\(directory)/\(name)"
            do {
                let document = try JSONDocument(parsing: try EvidenceFile.contents(of: path))
                drills.append(try DrillFinding(from: document.root, file: path))
            } catch {
                complaints.append("\(path) is not the record of a drill: \(error)")
            }
        }
        return .read(directory: directory, drills, complaints: complaints)
    }
}
