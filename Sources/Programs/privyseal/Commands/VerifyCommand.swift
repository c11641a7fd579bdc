import ArgumentParser
import SignatureExplanation
import Signing
import SigningKit

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check whether Apple accepts a signature, and with --explain, find out why not.",
        discussion: VerifyHelp.discussion
    )

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "A public key in PEM, or a JWKS. KEYID=FILE says which key a PEM file holds. Give it once for each file.",
            valueName: "file"))
    var keyFiles: [String] = []

    @Option(
        help: ArgumentHelp("Use the public keys of this configuration.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(help: ArgumentHelp("The JWS to verify, exactly as the app gets it.", valueName: "token"))
    var jws: String?

    @Option(
        help: ArgumentHelp(
            "The file with the JWS or the JSON of an answer; - (the default) is standard input.", valueName: "file"))
    var input: String?

    @Option(
        help: ArgumentHelp(
            "The app that the signature is for. A token for a service names an app only if it is for app-store-server-api.",
            valueName: "bundle-id"))
    var app: String?

    @Option(
        help: ArgumentHelp(
            "The service of Apple that the token is for: \(BuiltIns.explainedProfiles.map(\.id).joined(separator: ", ")).",
            valueName: "profile"),
        completion: .list(BuiltIns.explainedProfiles.map(\.id)))
    var service: String?

    @Flag(help: "Find the mistake in a signature that does not verify, and show the correction.")
    var explain = false

    @OptionGroup var output: OutputOption

    @Argument(
        help: ArgumentHelp(
            "Fields of a legacy signature, such as productId=premium; they add to the JSON of the answer.",
            valueName: "name=value"))
    var fields: [String] = []

    func run() async throws {
        do {
            try await verify()
        } catch let error as ValidationError {
            // ArgumentParser would print the usage of the whole program after the message.
            throw StandardError.failure(error.message, status: ExitCode.validationFailure.rawValue)
        }
    }

    private func verify() async throws {
        let keys = try await VerifyKeys.read(keyFiles, config: config)
        let subject = try VerifySubject(jws: jws, input: input, app: app, fields: fields)
        let examiner = SignatureExaminer(
            keys: keys, features: BuiltIns.features().map(\.descriptor), profiles: BuiltIns.explainedProfiles,
            now: Timestamp.now())
        let explanation =
            switch subject {
            case .token(let token):
                if let profile = try profile(of: token, examiner) {
                    examiner.examine(token: token, profile: profile, app: app, isSearching: explain)
                } else {
                    examiner.examine(token: token, app: app, isSearching: explain)
                }
            case .legacy(let answer): examiner.examine(answer, isSearching: explain)
            }
        // The result is on standard output, and remarks are on standard error.
        output.show(explanation, text: explain ? explanation.report : explanation.verdict)
        if output.format == .text, !explain {
            let remarks = explanation.isValid ? explanation.remarks : ["--explain looks for the reason."]
            for remark in remarks { StandardError.print("privyseal: \(remark)") }
        }
        if !explanation.isValid { throw ExitCode.failure }
    }

    /// The named profile or, without a name, the one that the token fits; nil for a token for StoreKit.
    ///
    /// - Throws: if `--app` is given, and a token of the profile names no app.
    private func profile(of token: [UInt8], _ examiner: SignatureExaminer) throws(ValidationError) -> ServiceProfile? {
        guard let profile = try named() ?? examiner.profile(of: token) else { return nil }
        if app != nil, !profile.claims.contains(where: { $0.name == "bid" }) {
            throw ValidationError(
                "A token for \(profile.id) names no app, so --app cannot be checked. Leave --app out"
                    + (service == nil ? ", or name another service with --service." : "."))
        }
        return profile
    }

    /// The profile that `--service` names.
    private func named() throws(ValidationError) -> ServiceProfile? {
        guard let service else { return nil }
        if let known = BuiltIns.explainedProfiles.first(where: { $0.id == service }) { return known }
        // The only profile that makes no token.
        if BuiltIns.profiles.contains(where: { $0.id == service }) { throw VerifySubject.snapshotURL }
        let ids = BuiltIns.explainedProfiles.map(\.id).joined(separator: ", ")
        throw ValidationError("\"\(service)\" is not a service; the services are \(ids).")
    }
}
