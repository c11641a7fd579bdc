import AuditKit
import HummingbirdCore
import StrictJSON
import TransparencyLog

/// Checkpoints and proofs as text documents, which `privyseal audit check-proof` and other verifiers can check.
extension AuditRoutes {
    /// `GET /v1/audit/checkpoint`: the newest checkpoint.
    @Sendable func checkpoint(_ request: Request, _ scope: RequestScope) async throws -> Response {
        _ = try QueryString(request.uri.query, allowing: [])
        guard let head = try await read({ try $0.head() }) else {
            throw Problem(.notFound, "The log has no entries yet, and so no checkpoint.")
        }
        return .text(head.note)
    }

    /// `GET /v1/audit/checkpoints`: the published checkpoints that the log keeps.
    @Sendable func checkpoints(_ request: Request, _ scope: RequestScope) async throws -> Response {
        _ = try QueryString(request.uri.query, allowing: [])
        let kept = try await read { try $0.checkpoints() }
        return .json([
            "checkpoints": kept.map { ["size": $0.size, "note": $0.note] as JSONMembers }
        ])
    }

    /// `GET /v1/audit/entries/{index}/proof?size=…`: the inclusion proof of an entry in a checkpoint's tree.
    @Sendable func inclusion(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let index = try Self.index(scope)
        let sizes = try sizes(request, ["size"])
        return try await prove { prover in
            try AuditProver.first(try heads(sizes["size"], prover)) { head throws(AuditProofError) in
                try prover.inclusion(of: index, in: head).text
            }
        }
    }

    /// `GET /v1/audit/consistency?old=…&new=…`: the consistency proof between two checkpoints.
    @Sendable func consistency(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let sizes = try sizes(request, ["old", "new"])
        guard let old = sizes["old"] else {
            throw Problem(
                .missingParameter, "The parameter \"old\", the size of a checkpoint, is missing.", field: "old")
        }
        return try await prove { prover in
            let later = try heads(sizes["new"], prover)
            return try AuditProver.first(try heads(old, prover)) { head throws(AuditProofError) in
                try AuditProver.first(later) { later throws(AuditProofError) in
                    try prover.consistency(from: head, to: later).text
                }
            }
        }
    }

    /// The checkpoint of this size that the log keeps, or else the published copies of this size.
    private func heads(_ size: Int?, _ prover: AuditProver) throws -> [SignedTreeHead] {
        do throws(AuditProofError) {
            return [try prover.checkpoint(size: size)]
        } catch {
            guard case .noCheckpoint(let size?) = error else { throw error }
            let notes = try reading.externals().checkpoints.notes(size: size)
            guard !notes.isEmpty else { throw error }
            return notes.map { SignedTreeHead(size: size, note: $0.description) }
        }
    }

    private func prove(_ body: @escaping @Sendable (AuditProver) throws -> String) async throws -> Response {
        do {
            let text = try await read { reader in
                do { return try body(try AuditProver(reader)) } catch AuditProofError.store(let error) { throw error }
            }
            return .text(text)
        } catch let error as AuditProofError {
            throw Problem(.notFound, error.description)
        }
    }

    private func sizes(_ request: Request, _ names: [String]) throws -> [String: Int] {
        let parameters = try QueryString(request.uri.query, allowing: names)
        var sizes: [String: Int] = [:]
        for name in names {
            sizes[name] = try parameters.optional(name, "a checkpoint size") { Int($0).flatMap { $0 >= 0 ? $0 : nil } }
        }
        return sizes
    }
}
