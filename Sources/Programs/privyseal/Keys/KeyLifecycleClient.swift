import Foundation
import KeyLifecycle
import NIOHTTP1
import StrictJSON

/// Requests key lifecycle changes: from a running gateway, or from the register itself while none runs.
protocol KeyLifecycleClient: Sendable {
    func overview() async throws -> KeyLifecycleOverview
    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer

    /// Has a key sign a fresh proof of possession, which `activate` requires.
    func prove(_ keyID: String) async throws -> KeyLifecycleRecord

    /// Another administrator than the proposer approves. A change without work on a token is done at once.
    ///
    /// - Parameter digest: of the proposal as the administrator saw it.
    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer
    func reject(_ proposal: String) async throws

    /// Call before the work on the token.
    func begin(_ order: ProvisioningOrder) async throws -> ProvisioningAnswer
    /// Call after the work on the token.
    func finish(_ job: String, _ end: ProvisioningResult) async throws -> ProvisioningOutcome
}

/// Asks a running gateway's admin listener. A refusal is an `AdminError.refused` with the gateway's sentence.
struct RemoteKeyLifecycleClient: KeyLifecycleClient {
    private let client: AdminClient

    init(_ client: AdminClient) {
        self.client = client
    }

    func overview() async throws -> KeyLifecycleOverview {
        try await ask(.GET, "/v1/keys")
    }

    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer {
        try await ask(.POST, "/v1/keys/\(Self.segment(order.keyID))/\(order.action.rawValue)", order)
    }

    func prove(_ keyID: String) async throws -> KeyLifecycleRecord {
        try await ask(.POST, "/v1/keys/\(Self.segment(keyID))/prove", [:] as JSONMembers)
    }

    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer {
        try await ask(.POST, "/v1/proposals/\(Self.segment(proposal))/approve", ["digest": digest])
    }

    func reject(_ proposal: String) async throws {
        _ = try await client.ask(
            .POST, "/v1/proposals/\(Self.segment(proposal))/reject", body: JSONText.encode([:] as JSONMembers),
            accept: nil)
    }

    func begin(_ order: ProvisioningOrder) async throws -> ProvisioningAnswer {
        try await ask(.POST, "/v1/ceremonies", order)
    }

    func finish(_ job: String, _ end: ProvisioningResult) async throws -> ProvisioningOutcome {
        try await ask(.POST, "/v1/ceremonies/\(Self.segment(job))/finish", end)
    }

    private func ask<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: (any Encodable)? = nil
    ) async throws -> Answer {
        let body = body.map { JSONText.encode($0) }
        let text = try await client.ask(method, path, body: body, accept: "application/json")
        do {
            return try JSONDocument(parsing: Array(text.utf8)).root.decode()
        } catch {
            throw AdminError.unreachable(
                "the answer to \(path) is not that of a gateway of version \(Version.text): \(error)")
        }
    }

    /// Encodes an argument as one segment of a path (RFC 3986 §3.3).
    private static func segment(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "-"
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~")
}
