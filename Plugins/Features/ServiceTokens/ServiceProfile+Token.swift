import JWS
import SigningKit
import StrictJSON

/// The engine: makes a profile from a row of the table.
extension ServiceProfile {
    /// - Parameters:
    ///   - header: the members after `alg` and `kid`.
    ///   - check: refuses choices that Apple would refuse, and returns a shorter limit in seconds for them; nil for none.
    static func token(
        _ id: String, _ summary: String, family: ServiceKeyFamily, identifiers: [ServiceIdentifier],
        header: [TokenMember] = [], claims: [TokenMember], choices: [ServiceChoice] = [],
        required: [ServiceChoice] = [], lifetime: ServiceLifetime?, reuse: ServiceTokenReuse = .never,
        check: @escaping @Sendable (ServiceTokenChoices) throws(JSONReadError) -> Int64? = { _ in nil }
    ) -> ServiceProfile {
        ServiceProfile(
            id: id, summary: summary, family: family, identifiers: identifiers,
            choices: choices + (lifetime == nil ? [] : [.lifetime]), required: required, lifetime: lifetime,
            reuse: reuse, header: header.map(\.documented), claims: claims.map(\.documented), check: check
        ) { order throws(FeatureError) in
            let limit: Int64?
            do throws(JSONReadError) { limit = try check(order.choices) } catch { throw .request(error) }
            let now = order.issuedAt.seconds
            let times = lifetime?.times(at: order.issuedAt, seconds: order.lifetime, limit: limit)
            // Without `exp`, the age counts from `iat`, so that is the time itself.
            let written = times ?? ServiceTokenTimes(issuedAt: now, expiresAt: now + Self.oldest)
            let alg = TokenMember("alg", .text("ES256"))
            let signingInput = CompactJWS.signingInput(
                header: Self.json([alg, TokenMember("kid", .keyID)] + header, order, written),
                payload: Self.json(claims, order, written))
            let refreshAfter = Self.refreshAfter(reuse, now, written)
            let expires = Timestamp(seconds: written.expiresAt)
            return Draft(signingInput: signingInput, expires: expires) { signature in
                ServiceToken(
                    CompactJWS.serialized(signingInput, signature: signature.rawRepresentation.span),
                    keyID: order.keyID, issuedAt: written.issuedAt, expiresAt: written.expiresAt,
                    refreshAfter: refreshAfter)
            }
        }
    }

    private static func json(
        _ members: [TokenMember], _ order: ServiceTokenOrder, _ times: ServiceTokenTimes
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in for member in members { member.write(order, times, to: &writer) } }
        return writer.bytes
    }

    private static func refreshAfter(_ reuse: ServiceTokenReuse, _ now: Int64, _ times: ServiceTokenTimes) -> Int64 {
        let minuteBefore = max(times.expiresAt - 60, now)
        return switch reuse {
        case .never: now
        case .forSeconds(let seconds): min(now + seconds, minuteBefore)
        case .untilExpiry: minuteBefore
        }
    }
}
