import SigningKit
import StrictJSON

/// The answer of a container's or an instance's credential endpoint.
struct CredentialAnswer: Decodable, Sendable {
    let accessKeyID: String
    let secretAccessKey: String
    let token: String?
    let expiration: String?

    private enum CodingKeys: String, CodingKey {
        case accessKeyID = "AccessKeyId"
        case secretAccessKey = "SecretAccessKey"
        case token = "Token"
        case expiration = "Expiration"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        accessKeyID = try members.decode(String.self, forKey: .accessKeyID)
        secretAccessKey = try members.decode(String.self, forKey: .secretAccessKey)
        token = try members.decodeOrNull(.token)
        expiration = try members.decodeOrNull(.expiration)
    }

    /// - Parameter source: for messages.
    static func credentials(_ answer: HTTPAnswer, from source: String) throws(KeyError) -> AWSCredentials {
        guard answer.status == 200 else {
            throw .unavailable("\(source.capitalizedFirst) answered \(answer.status) in place of credentials.")
        }
        guard let document = try? JSONDocument(parsing: answer.body), let found: Self = try? document.root.decode()
        else {
            // The error is not shown: it could quote the answer.
            throw .unavailable(
                "\(source.capitalizedFirst) did not answer with credentials: a JSON object with AccessKeyId and "
                    + "SecretAccessKey is expected.")
        }
        let expiry = found.expiration.flatMap(Timestamp.init(anyRFC3339:))
        guard (found.expiration == nil) == (expiry == nil) else {
            throw .unavailable("The Expiration of the credentials from \(source) is not a time.")
        }
        return try AWSCredentials(
            accessKeyID: found.accessKeyID, secretAccessKey: found.secretAccessKey, sessionToken: found.token,
            expiry: expiry, source: source)
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
