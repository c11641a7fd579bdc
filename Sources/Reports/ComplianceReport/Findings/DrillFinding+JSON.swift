import SigningKit
public import StrictJSON

extension DrillFinding {
    /// Reads the members of a drill record that the report needs, and ignores the others.
    public init(from value: JSONValue, file: String, digest: String) throws(JSONReadError) {
        let record = try value.decode(Record.self)
        guard record.version == 1 else {
            throw JSONReadError(.invalid("is \(record.version); only version 1 is supported"))
        }
        self.init(
            id: record.id, scenario: record.scenario, ended: record.ended, isPassed: record.verdict == "passed",
            isTemporary: record.gateway.throwAway, checkpoint: record.audit?.checkpoint, file: file, digest: digest)
    }

    private struct Record: Decodable {
        struct Gateway: Decodable {
            let throwAway: Bool
        }

        struct Audit: Decodable {
            let checkpoint: String
        }

        let version: Int
        let id, scenario, verdict: String
        let ended: Timestamp
        let gateway: Gateway
        let audit: Audit?
    }
}
