public import SigningKit

/// Stretches of a drill in which no request was served: between two served answers, or from the last one to the end.
public enum ServiceOutages {
    /// In milliseconds: a longer outage is a deviation.
    static let longest: Int64 = 5000

    /// In milliseconds: a shorter one is not counted. A request may fail while others are served.
    private static let shortest: Int64 = 100

    /// Finds the outages of a load.
    ///
    /// A stretch with a failed answer counts from the moment at which the first failed request began. One without counts
    /// when it is longer than `longest`: a gateway that stands still answers nothing, and refuses nothing.
    ///
    /// - Parameters:
    ///   - begin: of the load.
    ///   - end: of the load.
    public static func find(
        in answers: [LoadAnswer], from begin: Timestamp, to end: Timestamp
    ) -> [Range<Timestamp>] {
        var outages: [Range<Timestamp>] = []
        var lastServed = begin
        var firstFailed: Timestamp?
        func note(from start: Timestamp?, to end: Timestamp) {
            guard let start, length(start, end) >= shortest else { return }
            outages.append(start..<end)
        }
        for answer in answers.sorted(by: { $0.ended < $1.ended }) {
            if answer.isServed {
                let isSilent = length(lastServed, answer.ended) > longest
                note(from: isSilent ? lastServed : firstFailed, to: answer.ended)
                (lastServed, firstFailed) = (answer.ended, nil)
            } else if answer.isFailed {
                firstFailed = max(lastServed, min(firstFailed ?? answer.begun, answer.begun))
            }
        }
        // A load that has sent all its requests is silent without an outage.
        note(from: firstFailed, to: end)
        return outages
    }

    private static func length(_ begin: Timestamp, _ end: Timestamp) -> Int64 { end.milliseconds - begin.milliseconds }
}
