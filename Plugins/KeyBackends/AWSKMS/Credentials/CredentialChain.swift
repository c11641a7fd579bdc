import SigningKit

/// Looks for credentials in the places and the order of AWS's tools: environment, a role of the profile, web identity,
/// shared files, container, instance metadata. The first place that is configured decides; a fault there is an error.
struct CredentialChain: Sendable {
    let region: AWSRegion
    let variables: EnvironmentVariables
    let transport: HTTPTransport

    /// Roles in a row that are assumed with each other's credentials.
    private static let longestRoleChain = 5

    func load(by deadline: ContinuousClock.Instant) async throws(KeyError) -> AWSCredentials {
        if let found = try environment() { return found }
        let files = try await SharedConfiguration(variables)
        let name = variables["AWS_PROFILE"] ?? "default"
        let profile = files.profile(name)
        if profile == nil, variables["AWS_PROFILE"] != nil {
            throw .unavailable(
                "AWS_PROFILE names the profile \(name), which is neither in \(files.configPath) nor in "
                    + "\(files.credentialsPath).")
        }
        let search = ProfileSearch(chain: self, files: files, deadline: deadline)
        if let profile, profile["role_arn"] != nil, profile["web_identity_token_file"] == nil {
            return try await search.role(profile, name, depth: 0)
        }
        if let found = try await webIdentity(profile ?? [:], name, usesVariables: true, by: deadline) { return found }
        if let profile, let found = try search.keys(profile, name) { return found }
        if container.isConfigured { return try await container.load(by: deadline) }
        guard !instance.isDisabled else {
            throw .unavailable(
                "There are no AWS credentials: neither in the environment, nor in \(files.configPath) or "
                    + "\(files.credentialsPath) (profile \(name)), nor for a web identity or a container; and "
                    + "AWS_EC2_METADATA_DISABLED is true.")
        }
        return try await instance.load(by: deadline)
    }

    var container: ContainerCredentials { ContainerCredentials(variables: variables, transport: transport) }
    var instance: InstanceMetadata { InstanceMetadata(variables: variables, transport: transport) }
    var tokenService: SecurityTokenService {
        SecurityTokenService(region: region, variables: variables, transport: transport)
    }

    func environment() throws(KeyError) -> AWSCredentials? {
        guard let accessKeyID = variables["AWS_ACCESS_KEY_ID"] else { return nil }
        guard let secret = variables["AWS_SECRET_ACCESS_KEY"] else {
            throw .unavailable("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not. Set both or none.")
        }
        return try AWSCredentials(
            accessKeyID: accessKeyID, secretAccessKey: secret, sessionToken: variables["AWS_SESSION_TOKEN"],
            source: "the environment")
    }

    /// - Parameter usesVariables: whether the environment counts before the profile.
    func webIdentity(
        _ profile: SharedConfiguration.Profile, _ name: String, usesVariables: Bool,
        by deadline: ContinuousClock.Instant
    ) async throws(KeyError) -> AWSCredentials? {
        let value = { (variable: String, setting: String) in
            (usesVariables ? variables[variable] : nil) ?? profile[setting]
        }
        guard let path = value("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file") else { return nil }
        guard let arn = value("AWS_ROLE_ARN", "role_arn") else {
            throw .unavailable(
                "There is a web identity token file, but no role: set AWS_ROLE_ARN, or role_arn in the profile \(name)."
            )
        }
        let role = SecurityTokenService.Role(
            arn: arn, sessionName: value("AWS_ROLE_SESSION_NAME", "role_session_name"),
            duration: profile["duration_seconds"])
        return try await tokenService.assume(role, webIdentityTokenIn: path, by: deadline)
    }

    /// Whether a role may be assumed with credentials from a chain of so many roles.
    static func isTooDeep(_ depth: Int) -> Bool { depth >= longestRoleChain }
}

/// Credentials of profiles in the shared files.
struct ProfileSearch: Sendable {
    let chain: CredentialChain
    let files: SharedConfiguration
    let deadline: ContinuousClock.Instant

    /// The static keys of a profile; nil without any.
    ///
    /// - Throws: also for a profile whose credentials come from a program or from a person's login.
    func keys(_ profile: SharedConfiguration.Profile, _ name: String) throws(KeyError) -> AWSCredentials? {
        if profile["sso_session"] != nil || profile["sso_start_url"] != nil || profile["login_session"] != nil {
            throw .unavailable(
                "The profile \(name) needs the login of a person (SSO), which a service cannot use. Give the gateway a "
                    + "role, for example by web identity, container or instance metadata.")
        }
        if let keys = files.credentialsProfile(name), keys["aws_access_key_id"] != nil {
            return try credentials(keys, name, files.credentialsPath)
        }
        if profile["credential_process"] != nil {
            throw .unavailable(
                "The profile \(name) has credential_process, but the gateway runs no programs. Use another way: a role by "
                    + "web identity, container or instance metadata, or keys in \(files.credentialsPath).")
        }
        guard let keys = files.configProfile(name), keys["aws_access_key_id"] != nil else { return nil }
        return try credentials(keys, name, files.configPath)
    }

    private func credentials(
        _ profile: SharedConfiguration.Profile, _ name: String, _ path: String
    ) throws(KeyError) -> AWSCredentials {
        guard let accessKeyID = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] else {
            throw .unavailable("The profile \(name) in \(path) has aws_access_key_id without aws_secret_access_key.")
        }
        return try AWSCredentials(
            accessKeyID: accessKeyID, secretAccessKey: secret, sessionToken: profile["aws_session_token"],
            source: "the profile \(name) in \(path)")
    }

    /// Assumes the role of a profile, with the credentials of its source.
    func role(
        _ profile: SharedConfiguration.Profile, _ name: String, depth: Int
    ) async throws(KeyError) -> AWSCredentials {
        guard profile["mfa_serial"] == nil else {
            throw .unavailable(
                "The profile \(name) needs the code of a person's device (mfa_serial). Use a role without it.")
        }
        guard !CredentialChain.isTooDeep(depth) else {
            throw .unavailable(
                "The source_profile of the profile \(name) leads through too many roles, or in a circle.")
        }
        let source = try await sourceCredentials(profile, name, depth: depth)
        let role = SecurityTokenService.Role(
            arn: profile["role_arn"] ?? "", sessionName: profile["role_session_name"],
            externalID: profile["external_id"], duration: profile["duration_seconds"])
        return try await chain.tokenService.assume(role, with: source, by: deadline)
    }

    private func sourceCredentials(
        _ profile: SharedConfiguration.Profile, _ name: String, depth: Int
    ) async throws(KeyError) -> AWSCredentials {
        switch (profile["source_profile"], profile["credential_source"]) {
        case (let source?, nil): return try await self.source(source, of: name, depth: depth)
        case (nil, "Environment"?):
            guard let found = try chain.environment() else {
                throw .unavailable(
                    "The profile \(name) takes its source from the environment, which has no credentials.")
            }
            return found
        case (nil, "EcsContainer"?): return try await chain.container.load(by: deadline)
        case (nil, "Ec2InstanceMetadata"?): return try await chain.instance.load(by: deadline)
        default:
            throw .unavailable(
                "The profile \(name) has a role_arn, so it needs either source_profile or credential_source (Environment, "
                    + "EcsContainer or Ec2InstanceMetadata).")
        }
    }

    private func source(_ source: String, of name: String, depth: Int) async throws(KeyError) -> AWSCredentials {
        guard let profile = files.profile(source) else {
            throw .unavailable("The source_profile \(source) of the profile \(name) does not exist.")
        }
        // A profile may name itself, for its own static keys.
        let hasKeys = profile["aws_access_key_id"] != nil
        if profile["role_arn"] != nil, !hasKeys, profile["web_identity_token_file"] == nil {
            return try await role(profile, source, depth: depth + 1)
        }
        if let found = try await chain.webIdentity(profile, source, usesVariables: false, by: deadline) { return found }
        guard let found = try keys(profile, source) else {
            throw .unavailable("The source_profile \(source) of the profile \(name) has no credentials.")
        }
        return found
    }
}
