import AuditKit
import Signing
import SigningKit

/// Reports of a job with several places. The register has the result of each place, and the last one ends the job.
extension KeyLifecycleService {
    /// - Parameter before: the job as it was before the gateway looks at the place.
    func finishPlace(
        of before: ProvisioningJob, _ end: ProvisioningResult, by actor: Administrator
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        guard let uri = end.uri, before.uris.containsExactly(uri) else {
            throw KeyLifecycleRefusal(
                "The work on \(before.keyID) has \(before.uris.count) places, and the report names none of them. Give the "
                    + "URI of one of them.")
        }
        // Outside `inTurn`, because a token may hang.
        let facts = end.isSuccess ? try await facts(of: before, end, at: uri) : nil
        return try await inTurn { () throws(KeyLifecycleRefusal) in
            var job = try job(before.id, endedBy: actor)
            guard job == before else { throw Self.hasChanged(job.keyID) }
            job.worker = actor.name
            if end.isSuccess { return try await accept(end, facts, at: uri, of: job) }
            return try await fail(job, end, by: actor, facts: ["uri": uri])
        }
    }

    /// Records the result of a place. Ends the job if it is the last one. Call it inside `inTurn`.
    ///
    /// - Parameter facts: what the gateway saw; nil if it could not look.
    func accept(
        _ report: ProvisioningResult, _ facts: [String: String]?, at uri: String, of job: ProvisioningJob
    ) async throws(KeyLifecycleRefusal) -> KeyLifecycleAnswer {
        if let expected = job.fingerprint, let found = report.fingerprint, expected != found {
            throw KeyLifecycleRefusal(
                "The work began with the key \(expected), but ended at \(uri) with another one, \(found).")
        }
        var job = job
        job.set(ReplicaResult(uri: uri, report: report, facts: facts))
        var evidence = facts ?? [:]
        evidence["uri"] = uri
        if let conclusion = job.conclusion {
            let last = report.reported.merging(evidence) { _, seen in seen }
            return .ended(try await conclude(job, conclusion.report, conclusion.facts, evidence: last))
        }
        try await set(job, isOpen: true, .reported, by: job.worker, report, facts: evidence)
        let isReported = job.results.count == job.uris.count
        return isReported ? .waiting(job) : .begun(job)
    }
}
