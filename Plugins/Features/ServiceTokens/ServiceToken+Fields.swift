import SigningKit

extension ServiceToken {
    /// The members that `write` writes for a token.
    static let fields = [
        FeatureField(
            "token", .jws, "A JWT with ES256, for the header `Authorization: Bearer …`.",
            example: """
                "eyJhbGciOiJFUzI1NiIsImtpZCI6IjJYOVI0SFhGMzQiLCJ0eXAiOiJKV1QifQ.\
                eyJpc3MiOiI1NzI0NjU0Mi05NmZlLTFhNjMtZTA1My0wODI0ZDAxMTA3MmEifQ.\
                qk2dXyNf1SKlvPpTgRjHgnAEZnAHVXPlUHkXLMJQo9Cz0WyG5PwGLuD7wgKkB3qlgBM1cS6QVV2VUqc4nQe1hg"
                """),
        FeatureField("keyId", .keyID, "The ID of the key that signed.", example: #""2X9R4HXF34""#),
        FeatureField(
            "issuedAt", .integer,
            "The claim `iat`: 60 seconds before the token was made, because Apple refuses a time in "
                + "the future.", example: "1795250102"),
        FeatureField("expiresAt", .integer, "The claim `exp`, in seconds since 1970.", example: "1795250462"),
        FeatureField(
            "refreshAfter", .integer,
            "From when to ask for a new token. It is the time of the answer if Apple wants a new "
                + "token for each request.", example: "1795250162"),
    ]
}
