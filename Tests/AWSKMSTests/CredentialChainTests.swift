import Foundation
import SigningKit
import SigningKitTesting
import Synchronization
import Testing

@testable import AWSKMS

/// A directory for the files of a test. It is removed at the end.
final class FileDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "awskms-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
        return "\(path)/\(name)"
    }
}

@Suite("The search for credentials", .timeLimit(.minutes(1)))
struct CredentialChainTests {
    private let directory: FileDirectory
    private let transport = HTTPTransport(connections: 4, timeout: .seconds(2))

    init() throws {
        directory = try FileDirectory()
    }

    private func load(_ variables: [String: String]) async throws(KeyError) -> AWSCredentials {
        var all = [
            "AWS_CONFIG_FILE": "\(directory.path)/config",
            "AWS_SHARED_CREDENTIALS_FILE": "\(directory.path)/credentials",
            "AWS_EC2_METADATA_DISABLED": "true",
        ]
        all.merge(variables) { _, own in own }
        guard let region = AWSRegion("eu-west-1") else { throw .failed("eu-west-1 is a region.") }
        return try await CredentialChain(region: region, variables: EnvironmentVariables(all), transport: transport)
            .load(by: .now + .seconds(5))
    }

    private func refusal(_ variables: [String: String]) async -> String {
        do throws(KeyError) {
            let found = try await load(variables)
            Issue.record("credentials from \(found.source)")
            return ""
        } catch {
            // The gateway tries again by itself, so a repair needs no restart.
            #expect(error.kind == .unavailable)
            return error.description
        }
    }

    // MARK: Environment and files

    @Test("the environment counts first")
    func environment() async throws {
        try directory.write("credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n")
        let found = try await load([
            "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t", "AWS_PROFILE": "none",
        ])
        #expect(found.accessKeyID == "ENV" && found.sessionToken?.text == "t" && found.expiry == nil)
        // An empty variable counts as absent.
        #expect(try await load(["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "s"]).accessKeyID == "FILE")
        #expect(await refusal(["AWS_ACCESS_KEY_ID": "ENV"]).contains("AWS_SECRET_ACCESS_KEY is not"))
        #expect(await refusal(["AWS_ACCESS_KEY_ID": "A\nB", "AWS_SECRET_ACCESS_KEY": "s"]).contains("not usable"))
    }

    @Test("the credentials file counts before the configuration file, and AWS_PROFILE selects the profile")
    func profiles() async throws {
        try directory.write(
            "config",
            """
            [default]
            aws_access_key_id = CONFIG
            aws_secret_access_key = s
            region = eu-central-1
            [profile only-config]
            aws_access_key_id=CONFIG2
            aws_secret_access_key=s
            [profile "with spaces"]
            aws_access_key_id = CONFIG3
            aws_secret_access_key = s
            """)
        try directory.write(
            "credentials",
            """
            # A comment
            [default]
            aws_access_key_id = CREDENTIALS
            aws_secret_access_key = a=b:c
            aws_session_token = t
            [other]
            aws_access_key_id : OTHER
            aws_secret_access_key : s
            """)
        let found = try await load([:])
        #expect(found.accessKeyID == "CREDENTIALS" && found.sessionToken?.text == "t")
        #expect(found.secretAccessKey.text == "a=b:c")
        for (profile, expected) in [
            ("other", "OTHER"), ("only-config", "CONFIG2"), ("with spaces", "CONFIG3"), ("default", "CREDENTIALS"),
        ] {
            #expect(try await load(["AWS_PROFILE": profile]).accessKeyID == expected)
        }
        #expect(await refusal(["AWS_PROFILE": "none"]).contains("AWS_PROFILE names the profile none"))
    }

    @Test("the files are in ~/.aws by default")
    func home() async throws {
        try FileManager.default.createDirectory(atPath: "\(directory.path)/.aws", withIntermediateDirectories: false)
        try directory.write(".aws/credentials", "[default]\naws_access_key_id = HOME\naws_secret_access_key = s\n")
        let variables = ["HOME": directory.path, "AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": ""]
        #expect(try await load(variables).accessKeyID == "HOME")
        #expect(
            try await load(variables.merging(["AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials"]) { $1 }).accessKeyID
                == "HOME")
    }

    @Test(
        "a profile that needs a program or a person is refused, and says what to use",
        arguments: [
            ("credential_process = /usr/bin/secret", "runs no programs"), ("sso_session = corp", "login of a person"),
            ("sso_start_url = https://x", "login of a person"), ("login_session = x", "login of a person"),
            ("role_arn = arn:aws:iam::1:role/x\nsource_profile = default\nmfa_serial = y", "mfa_serial"),
            ("role_arn = arn:aws:iam::1:role/x", "source_profile or credential_source"),
            ("role_arn = arn:aws:iam::1:role/x\nsource_profile = none", "does not exist"),
            ("role_arn = arn:aws:iam::1:role/x\nsource_profile = default", "in a circle"),
            ("role_arn = arn:aws:iam::1:role/x\ncredential_source = Magic", "Ec2InstanceMetadata"),
            ("role_arn = arn:aws:iam::1:role/x\ncredential_source = Environment", "has no credentials"),
            ("web_identity_token_file = /nonexistent", "no role"),
            ("aws_access_key_id = X", "without aws_secret_access_key"),
        ])
    func unusableProfiles(_ settings: String, _ words: String) async throws {
        try directory.write("config", "[default]\n\(settings)\n")
        let text = await refusal([:])
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("/usr/bin/secret"))
    }

    @Test(
        "a damaged file is refused with its line",
        arguments: [
            ("[default\nx = y", "Line 1", "no ]"), ("[a]\nnonsense", "Line 2", "name = value"),
            ("[a]\nx = 1\nX = 2", "Line 3", "repeats x"), ("[a]\n[b]\n[a]", "Line 3", "repeats the section a"),
        ])
    func damagedFiles(_ text: String, _ line: String, _ words: String) async throws {
        try directory.write("credentials", text)
        let refusal = await refusal([:])
        #expect(refusal.contains(line) && refusal.contains(words), "\(refusal)")
    }

    @Test("nested settings, other sections and comments are ignored")
    func otherSettings() throws {
        let profiles = try SharedFile.profiles(
            """
            orphan = 1
            [default]
            s3 =
              max_concurrent_requests = 20
            ; comment
            region = eu-west-1
            [sso-session corp]
            sso_start_url = x
            [profile a]
            [profiles b]
            """, in: "config", isConfig: true)
        #expect(profiles == ["default": ["s3": "", "region": "eu-west-1"], "a": [:]])
    }

    @Test("a file that cannot be read is an error, but a missing one is not")
    func unreadable() async throws {
        #expect(await refusal(["AWS_CONFIG_FILE": directory.path]).contains("it is not a file"))
        #expect(await refusal([:]).contains("There are no AWS credentials"))
    }

    // MARK: Container

    private func credentials(_ id: String, expiry: String = "2099-01-01T00:00:00Z") -> FakeServer.Answer {
        .json(
            #"{"Code":"Success","AccessKeyId":"\#(id)","SecretAccessKey":"s","Token":"t","Expiration":"\#(expiry)"}"#)
    }

    @Test("a container's endpoint gets the token of the file, as it is at that time")
    func container() async throws {
        let requests = Log<FakeServer.Request>()
        let answer = credentials("CONTAINER")
        let server = try await FakeServer { request in
            requests.add(request)
            return answer
        }
        let token = try directory.write("token", "first")
        let variables = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "\(server.origin)/v1/credentials?x=y",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "unused",
        ]
        let found = try await load(variables)
        #expect(found.accessKeyID == "CONTAINER" && found.sessionToken?.text == "t")
        #expect(found.expiry?.text == "2099-01-01T00:00:00.000Z")
        try directory.write("token", "second")
        _ = try await load(variables)
        #expect(requests.all.map { $0.header("authorization") } == ["first", "second"])
        #expect(requests.all.map(\.path) == ["/v1/credentials?x=y", "/v1/credentials?x=y"])
        try directory.write("token", "third\nX-Injected: yes")
        #expect(await refusal(variables).contains("line break"))
        try FileManager.default.removeItem(atPath: token)
        #expect(await refusal(variables).contains("does not exist"))
        try await server.close()
    }

    @Test(
        "credentials are fetched without TLS from this machine and the container host only",
        arguments: ["http://10.0.0.1/x", "http://example.com/x", "http://169.254.169.254/x", "ftp://127.0.0.1/x", "x"])
    func containerHosts(_ uri: String) async {
        #expect(await refusal(["AWS_CONTAINER_CREDENTIALS_FULL_URI": uri]).contains("must be an https URL"))
    }

    @Test("an endpoint that fails twice is asked a third time")
    func containerRetries() async throws {
        let count = Log<Int>()
        let answer = credentials("AFTER")
        let server = try await FakeServer { _ in
            count.add(1)
            return count.count < 3 ? FakeServer.Answer(status: 500) : answer
        }
        #expect(
            try await load(["AWS_CONTAINER_CREDENTIALS_FULL_URI": server.origin]).accessKeyID == "AFTER")
        try await server.close()
    }

    @Test(
        "an answer that has no credentials is refused, and not shown",
        arguments: [
            (FakeServer.Answer(status: 404), "answered 404"), (FakeServer.Answer(body: "hunter2"), "JSON object"),
            (.json(#"{"SecretAccessKey":"hunter2"}"#), "JSON object"),
            (.json(#"{"AccessKeyId":"A","SecretAccessKey":"hunter2","Expiration":"soon"}"#), "not a time"),
            (.json(#"{"AccessKeyId":"","SecretAccessKey":"hunter2"}"#), "not usable"),
            (FakeServer.Answer(body: String(repeating: "x", count: 70_000)), "more than 65536 bytes"),
        ])
    func badAnswers(_ answer: FakeServer.Answer, _ words: String) async throws {
        let server = try await FakeServer { _ in answer }
        let text = await refusal(["AWS_CONTAINER_CREDENTIALS_FULL_URI": server.origin])
        #expect(text.contains(words) && !text.contains("hunter2"), "\(text)")
        try await server.close()
    }

    // MARK: Instance metadata

    @Test("instance metadata are read with a token of version 2")
    func instance() async throws {
        let answer = credentials("INSTANCE")
        let server = try await FakeServer { request in
            switch (request.method, request.path) {
            case ("PUT", "/latest/api/token"):
                request.header("x-aws-ec2-metadata-token-ttl-seconds") == nil
                    ? FakeServer.Answer(status: 400) : FakeServer.Answer(body: "TOKEN")
            case _ where request.header("x-aws-ec2-metadata-token") != "TOKEN": FakeServer.Answer(status: 401)
            case ("GET", "/latest/meta-data/iam/security-credentials/"): FakeServer.Answer(body: "gateway-role\n")
            case ("GET", "/latest/meta-data/iam/security-credentials/gateway-role"): answer
            default: FakeServer.Answer(status: 404)
            }
        }
        for endpoint in [server.origin, server.origin + "/"] {
            let found = try await load([
                "AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": endpoint,
            ])
            #expect(found.accessKeyID == "INSTANCE")
        }
        try await server.close()
    }

    @Test("an instance without a role, and an instance without version 2, are told apart")
    func instanceFaults() async throws {
        let noRole = try await FakeServer { request in
            request.method == "PUT" ? FakeServer.Answer(body: "TOKEN") : FakeServer.Answer(status: 404)
        }
        let variables = ["AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": noRole.origin]
        #expect(await refusal(variables).contains("the instance has no role"))
        let noTokens = try await FakeServer { _ in FakeServer.Answer(status: 403) }
        #expect(
            await refusal(variables.merging(["AWS_EC2_METADATA_SERVICE_ENDPOINT": noTokens.origin]) { $1 })
                .contains("answered 403"))
        try await noRole.close()
        try await noTokens.close()
    }

    // MARK: STS

    /// AWS STS as its documentation shows its answers.
    private func tokenService(_ requests: Log<FakeServer.Request>) async throws -> FakeServer {
        try await FakeServer { request in
            requests.add(request)
            let parameters = request.body.split(separator: "&")
            let action = String(parameters.first { $0.hasPrefix("Action=") }?.dropFirst(7) ?? "")
            guard parameters.contains("Version=2011-06-15"), !parameters.contains("RoleArn=refused") else {
                return FakeServer.Answer(
                    status: 403,
                    body: "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code></Error></ErrorResponse>")
            }
            return FakeServer.Answer(
                body: """
                    <\(action)Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><\(action)Result>
                      <AssumedRoleUser><Arn>arn</Arn></AssumedRoleUser>
                      <Credentials><AccessKeyId>ROLE\(requests.count)</AccessKeyId>
                        <SecretAccessKey>a/b+c=</SecretAccessKey><SessionToken>token/+=</SessionToken>
                        <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
                    </\(action)Result></\(action)Response>
                    """)
        }
    }

    @Test("a web identity is exchanged for a role without a signature")
    func webIdentity() async throws {
        let requests = Log<FakeServer.Request>()
        let sts = try await tokenService(requests)
        let token = try directory.write("web-token", "header.payload.signature\n")
        let found = try await load([
            "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::111122223333:role/gateway",
            "AWS_ROLE_SESSION_NAME": "pod-1", "AWS_ENDPOINT_URL_STS": sts.origin,
        ])
        #expect(found.accessKeyID == "ROLE1" && found.secretAccessKey.text == "a/b+c=")
        #expect(found.sessionToken?.text == "token/+=" && found.expiry?.text == "2099-01-01T00:00:00.000Z")
        let request = try #require(requests.all.first)
        #expect(request.header("authorization") == nil)
        #expect(request.body.contains("Action=AssumeRoleWithWebIdentity"))
        #expect(request.body.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A111122223333%3Arole%2Fgateway"))
        #expect(request.body.contains("WebIdentityToken=header.payload.signature"))
        #expect(request.body.contains("RoleSessionName=pod-1"))
        try await sts.close()
    }

    @Test("a role of the profile is assumed with the credentials of its source profile, through several roles")
    func roles() async throws {
        let requests = Log<FakeServer.Request>()
        let sts = try await tokenService(requests)
        try directory.write("credentials", "[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n")
        try directory.write(
            "config",
            """
            [default]
            role_arn = arn:aws:iam::1:role/outer
            source_profile = inner
            external_id = ext
            role_session_name = session
            duration_seconds = 900
            [profile inner]
            role_arn = arn:aws:iam::1:role/inner
            source_profile = base
            """)
        let found = try await load(["AWS_ENDPOINT_URL": sts.origin])
        #expect(found.accessKeyID == "ROLE2" && found.source.contains("role/outer"))
        #expect(requests.count == 2)
        let signers = requests.all.map { $0.header("authorization")?.contains("Credential=BASE/") }
        #expect(signers == [true, false])
        let outer = try #require(requests.all.last)
        #expect(outer.header("authorization")?.contains("Credential=ROLE1/") == true)
        #expect(outer.header("x-amz-security-token") == "token/+=")
        for part in ["Action=AssumeRole&", "ExternalId=ext", "RoleSessionName=session", "DurationSeconds=900"] {
            #expect(outer.body.contains(part))
        }
        try await sts.close()
    }

    @Test("a refused role names the role and the code of AWS")
    func refusedRole() async throws {
        let sts = try await tokenService(Log())
        try directory.write(
            "config",
            "[default]\nrole_arn = refused\nsource_profile = default\naws_access_key_id = A\naws_secret_access_key = s\n"
        )
        let text = await refusal(["AWS_ENDPOINT_URL_STS": sts.origin])
        #expect(text.contains("the role refused") && text.contains("AccessDenied"))
        #expect(await refusal(["AWS_ENDPOINT_URL_STS": "http://sts.example.com"]).contains("this machine only"))
        try await sts.close()
    }

    @Test("an element counts only if there is exactly one, without entities")
    func elements() {
        #expect(XMLElement.content("A", in: "<B><A>x</A></B>") == "x")
        for text in ["<A>x", "x</A>", "<A>x</A><A>y</A>", "</A><A>", "<A>&lt;</A>", ""] {
            #expect(XMLElement.content("A", in: text) == nil)
        }
    }
}
