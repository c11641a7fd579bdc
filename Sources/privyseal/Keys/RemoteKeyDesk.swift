import Foundation
import NIOHTTP1
import SigningGateway
import StrictJSON

/// Asks a running gateway over its admin listener. A refusal is an `AdminError.refused` with the gateway's own sentence.
struct RemoteKeyDesk: KeyDesk {
    private let client: AdminClient

    init(_ client: AdminClient) {
        self.client = client
    }

    func overview() async throws -> KeyLifeOverview {
        try await ask(.GET, "/v1/keys")
    }

    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer {
        try await ask(.POST, "/v1/keys/\(Self.segment(order.keyID))/\(order.action.rawValue)", ChangeBody(order: order))
    }

    func prove(_ keyID: String) async throws -> KeyLifeRecord {
        try await ask(.POST, "/v1/keys/\(Self.segment(keyID))/prove", Nothing())
    }

    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer {
        try await ask(.POST, "/v1/proposals/\(Self.segment(proposal))/approve", Approval(digest: digest))
    }

    func reject(_ proposal: String) async throws {
        _ = try await client.ask(
            .POST, "/v1/proposals/\(Self.segment(proposal))/reject", body: Nothing().jsonBytes(), accept: nil)
    }

    func begin(_ order: KeyCeremonyOrder) async throws -> KeyCeremonyAnswer {
        try await ask(.POST, "/v1/ceremonies", order)
    }

    func finish(_ ceremony: String, _ end: KeyCeremonyEnd) async throws -> KeyCeremonyOutcome {
        try await ask(.POST, "/v1/ceremonies/\(Self.segment(ceremony))/finish", end)
    }

    private func ask<Answer: JSONReadable>(
        _ method: HTTPMethod, _ path: String, _ body: (any JSONWritable)? = nil
    ) async throws -> Answer {
        let text = try await client.ask(method, path, body: body?.jsonBytes(), accept: "application/json")
        do {
            return try Answer(from: try JSONDocument(parsing: Array(text.utf8)).root)
        } catch {
            throw AdminError.unreachable(
                "what answered \(path) does not speak as a gateway of version \(Version.text) does: \(error)")
        }
    }

    /// What a person typed, as one segment of a path (RFC 3986 §3.3).
    private static func segment(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "-"
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~")
}

/// The empty object.
private struct Nothing: JSONWritable {
    func write(to writer: inout JSONWriter) { writer.object { _ in } }
}

private struct Approval: JSONWritable {
    let digest: String

    func write(to writer: inout JSONWriter) { writer.object { $0.member("digest", digest) } }
}

/// What the key's path does not say already.
private struct ChangeBody: JSONWritable {
    let order: KeyChangeOrder

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("reason", order.reason)
            if let retiring = order.retiring { writer.member("retiring", retiring) }
            if let overlap = order.overlap { writer.member("overlap", overlap) }
            if let watch = order.watch { writer.member("watch", watch) }
        }
    }
}
