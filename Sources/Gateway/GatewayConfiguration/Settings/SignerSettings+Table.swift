public import SigningKit

/// The table of a signer's settings.
extension SignerSettings: SettingSection {
    static let settings: [Setting<Self>] = [
        .value(
            "name", \.name, .identifier.once("the signer"),
            missing: "the name of the signer, which privyseal signers list shows, such as softhsm2",
            "`files` for key files, `awskms` for AWS KMS, or the name of a module's file without `lib` and `.so`"
        ).shown { _ in nil },
        .value(
            "inProcess", \.isInProcess, .boolean,
            "`true` opens the keys in the gateway's own process, with the module's code and the PIN"),
        .value(
            "processes", \.processes, .integer(1...16),
            "processes for each token. A smart card allows one; a software token gets faster with more"),
        .value(
            "network", \.network, .network,
            "the sockets that the processes may create: `local` means Unix sockets, as for pcscd or tpm2-abrmd; `true` is "
                + "the same as `any`, and `false` as `none`. AWS KMS always has `any`"),
        .optional(
            "socket", \.socket, .signerSocket, standard: "child processes of the gateway",
            "the Unix socket of a signer that runs on its own under another user, see "
                + "[operations](operations.md#signers)"),
        .section("sandbox", \.sandbox),
    ]

    func finish(_ given: GivenSettings, _ findings: Findings) {
        for name in ["processes", "network", "socket", "sandbox"] where isInProcess {
            guard let origin = given.origin(of: name) else { continue }
            findings.fault("has no effect with inProcess: true; remove one of them", at: origin)
        }
    }
}

extension SignerSettings.Sandbox: SettingSection {
    static let settings: [Setting<Self>] = [
        .list(
            "paths", \.paths, of: "path", .sandboxPath.once("the path", inList: true),
            standard: "all but the gateway's files and the secrets of other signers",
            "the files and directories that the processes may use besides those of the system (`/usr`, `/lib`, `/etc`, "
                + "`/dev`), the module and the file of the PIN. Linux 5.13 or later",
            outline: { .set("paths", $0) }),
        .value(
            "memory", \.memory, .integer(64...65_536, unit: "MiB"),
            "MiB of data that a process may have; beyond it, the module gets no memory"),
    ]
}

extension SettingKind<SignerSettings.Network> {
    fileprivate static var network: Self {
        .parsed("`none`, `local`, `any`, `true`, `false`") { text throws(InvalidValue) in
            switch text {
            case "true": return .any
            case "false": return .none
            default:
                guard let network = SignerSettings.Network(rawValue: text) else {
                    throw InvalidValue("must be none, local or any")
                }
                return network
            }
        } text: {
            $0.rawValue
        }
    }
}

extension SettingKind<String> {
    fileprivate static var sandboxPath: Self { .path("must be an absolute path, such as /opt/vendor") }

    fileprivate static var signerSocket: Self {
        .path("must be the absolute path of a socket, such as unix:/run/privyseal/hsm-a.sock", prefix: "unix:")
    }

    private static func path(_ fault: String, prefix: String = "") -> Self {
        .parsed("absolute path" + (prefix.isEmpty ? "" : ", with or without `\(prefix)` in front")) {
            text throws(InvalidValue) in
            let path = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
            try require(path.hasPrefix("/") && !path.hasControlCharacters && path.utf8.count < 4096, fault)
            return path
        }
    }
}
