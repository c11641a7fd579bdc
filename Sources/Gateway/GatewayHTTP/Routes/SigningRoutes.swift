import GatewayConfiguration
import HTTPTypes
import HummingbirdCore
import Logging
import Metrics
import Signing
import SigningKit
import StrictJSON
import WorkloadIdentities

/// The routes that sign. Each authenticates its client, resolves the names in its path, charges the client's rate and
/// quota, and only then reads the body.
struct SigningRoutes {
    static let single = "/v1/apps/{bundleId}/{feature}"
    static let batch = "/v1/apps/{bundleId}/{feature}/batch"
    static let service = "/v1/services/{name}/token"
    static let maximumCount = 100

    let gateway: SnapshotHolder
    let registry: ConnectionRegistry

    func add(to routes: inout Routes) {
        routes.post(Self.single, single)
        routes.post(Self.batch, batch)
        routes.post(Self.service, service)
        routes.get(Self.compatibility, compatibility)
    }

    /// `POST /v1/apps/{bundleId}/{feature}`: signs one JSON request of a feature.
    @Sendable func single(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let snapshot = gateway.current
        let client = try await scope.identify(request, in: snapshot)
        let route = try scope.resolve(for: client, in: snapshot)
        try await scope.admit(client, for: route, in: snapshot)
        let body = try await scope.body(of: request, in: registry)
        return .json(try await snapshot.dispatcher.sign(body, for: route))
    }

    /// `POST /v1/apps/{bundleId}/{feature}/batch`: signs up to 100 requests of one feature. The answer has one result
    /// for each, in the same order: a response or a problem.
    @Sendable func batch(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let snapshot = gateway.current
        let client = try await scope.identify(request, in: snapshot)
        let route = try scope.resolve(for: client, in: snapshot)
        // Charge one request before reading the body, and the others when the body shows their number.
        try await scope.admit(client, for: route, in: snapshot)
        let body = try await scope.body(of: request, upTo: registry.bounds.batchBodyBytes, in: registry)
        let requests = try Self.requests(in: body)
        try await scope.admit(client, count: requests.count, taken: 1, for: route, in: snapshot)
        let results = await snapshot.dispatcher.sign(requests, for: route, reason: RefusalReason.init(_:))
        var writer = JSONWriter(capacity: 1024 * results.count)
        writer.object { writer in
            writer.name("results")
            writer.array { writer in for result in results { Self.write(result, scope.requestID, to: &writer) } }
        }
        return .json(writer.bytes)
    }

    /// `POST /v1/services/{name}/token`: makes a token for a service of Apple.
    @Sendable func service(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let snapshot = gateway.current
        let client = try await scope.identify(request, in: snapshot)
        let route = try scope.resolve(for: client, service: try scope.parameter("name"), in: snapshot)
        try await scope.admit(client, for: route, in: snapshot)
        let body = try await scope.body(of: request, in: registry)
        return .json(try await snapshot.dispatcher.token(body, for: route))
    }

    private static func requests(in body: [UInt8]) throws -> [JSONValue] {
        let requests: [JSONValue]
        do {
            requests = try JSONDocument(parsing: body).root.object(members: ["requests"])
                .required("requests") { value throws(JSONReadError) in try value.elements() }
        } catch let error as JSONSyntaxError {
            throw GatewayError.request(.body(error))
        } catch let error as JSONReadError {
            throw GatewayError.request(.request(error))
        }
        guard (1...maximumCount).contains(requests.count) else {
            throw Problem(
                .invalidRequest,
                "The member \"requests\" has \(requests.count) elements; it may have 1 to \(maximumCount).",
                field: "requests")
        }
        return requests
    }

    private static func write(
        _ result: Result<[UInt8], GatewayError>, _ requestID: String, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            switch result {
            case .success(let response):
                writer.member("status", 200)
                writer.name("response")
                writer.raw(response)
            case .failure(let error):
                var problem = Problem(error)
                problem.requestID = requestID
                writer.member("status", problem.status.code)
                writer.name("problem")
                problem.write(to: &writer)
            }
        }
    }
}

// MARK: The steps before a signature

extension RequestScope {
    /// Identifies the client by the request's header and connection.
    ///
    /// - Throws: the same problem for every cause, so that the caller learns nothing. The log has the cause at level
    ///   debug.
    func identify(_ request: Request, in snapshot: ConfigurationSnapshot) async throws(Problem) -> Client {
        let peer = connection.knownPeer
        let now = Timestamp.now()
        do throws(UnauthenticatedReason) {
            if let certificate = peer.certificate, !certificate.isValid(at: now) { throw .certificateOutOfDate }
            var token = Self.token(in: request)
            var identity: WorkloadIdentity?
            if let text = token, Self.mayBeJWT(text), !snapshot.issuers.isEmpty {
                identity = try await Self.identity(of: text, in: snapshot, at: now)
                token = nil
            }
            let client = try snapshot.clients.identify(
                bearerToken: token, identity: identity, certificate: peer.certificate?.facts, uid: peer.uid, at: now)
            note { $0.client = client.name }
            return client
        } catch {
            Counter(
                label: "privyseal_unauthenticated_total", dimensions: [("listener", connection.listener.rawValue)]
            ).increment()
            Self.logger.debug("A caller was not authenticated: \(error)")
            var problem = Problem(
                .unauthenticated,
                "Send a valid token in the header Authorization: Bearer …, or use a client certificate that the "
                    + "gateway knows.")
            // RFC 6750 §3.
            problem.headers[.wwwAuthenticate] = #"Bearer realm="privyseal""#
            throw problem
        }
    }

    /// A JWT has parts with dots between them. No token of PrivySeal has a dot.
    private static func mayBeJWT(_ token: String) -> Bool { token.utf8.contains(UInt8(ascii: ".")) }

    private static func identity(
        of token: String, in snapshot: ConfigurationSnapshot, at now: Timestamp
    ) async throws(UnauthenticatedReason) -> WorkloadIdentity {
        do { return try await snapshot.issuers.verify(token, at: now) } catch { throw .wrongIdentity(error) }
    }

    /// The text after `Bearer` (RFC 6750 §2.1), in any case (RFC 9110 §11.1). For another scheme it returns an empty
    /// token, which is never valid. Nil would count as no proof at all.
    private static func token(in request: Request) -> String? {
        guard let header = request.headers.value(.authorization) else { return nil }
        let scheme = "bearer "
        guard header.utf8.count > scheme.utf8.count,
            header.utf8.prefix(scheme.utf8.count).equalsIgnoringASCIICase(scheme)
        else { return "" }
        return String(Substring(header.utf8.dropFirst(scheme.utf8.count)))
    }

    /// Authorizes and resolves the names in the path.
    func resolve(for client: Client, in snapshot: ConfigurationSnapshot) throws -> ResolvedRequest {
        let (app, feature) = (try parameter("bundleId"), try parameter("feature"))
        return try resolve(for: client, app: app, feature: feature, keyID: nil, in: snapshot)
    }

    /// Authorizes and resolves the name of a service.
    func resolve(
        for client: Client, service name: String, in snapshot: ConfigurationSnapshot
    ) throws(GatewayError) -> ResolvedRequest {
        let known = snapshot.dispatcher.known(service: name)
        // Only configured names get into the log.
        note { ($0.app, $0.feature) = (known?.path, known?.profile) }
        let route = try snapshot.dispatcher.resolve(
            for: client, service: name, request: RequestIdentity(id: requestID, begun: begun))
        note { $0.keyID = route.wantedKeyID }
        return route
    }

    func resolve(
        for client: Client, app: String, feature: String, keyID: String?, in snapshot: ConfigurationSnapshot
    ) throws(GatewayError) -> ResolvedRequest {
        let route: ResolvedRequest
        do throws(GatewayError) {
            route = try snapshot.dispatcher.resolve(
                for: client, app: app, feature: feature, keyID: keyID,
                request: RequestIdentity(id: requestID, begun: begun))
        } catch {
            let known = snapshot.dispatcher.known(app: app, feature: feature, keyID: keyID)
            note { ($0.app, $0.feature, $0.keyID) = (known.app, known.feature, known.keyID) }
            throw error
        }
        // Only configured names get here, so the log holds no invented names.
        note { ($0.app, $0.feature, $0.keyID) = (route.app.bundleID, route.featureID, route.wantedKeyID) }
        return route
    }

    /// - Parameter taken: the part of `count` that was charged to the client's rate and quota before.
    func admit(
        _ client: Client, count: Int = 1, taken: Int = 0, for route: ResolvedRequest,
        in snapshot: ConfigurationSnapshot
    ) async throws(GatewayError) {
        let standing = try await snapshot.dispatcher.admitShared(
            client, count: count, taken: taken, feature: route.featureID)
        note {
            $0.isAdmitted = true
            if let standing { $0.limit = standing }
        }
    }

    /// Reads the body. Its bytes are in flight until the request is answered.
    func body(
        of request: Request, upTo limit: Int = RequestBody.maximumLength, in registry: ConnectionRegistry
    ) async throws -> [UInt8] {
        let (client, bounds) = (known.client ?? "", registry.bounds)
        return try await RequestBody.read(request, upTo: limit) { count throws(Problem) in
            try registry.bodies.take(count, for: client, within: bounds)
            note { $0.bodyBytes += count }
        }
    }
}
