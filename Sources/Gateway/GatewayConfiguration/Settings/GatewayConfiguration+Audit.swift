public import AuditKit
import SigningKit

extension GatewayConfiguration {
    /// The settings of the audit log, which records signatures and refusals. Nothing is opened yet.
    public struct Audit: SettingSection {
        /// The gateway creates the log in it if it is missing.
        public internal(set) var database = AuditDatabase.none
        /// The file or credential with the password of a database server; nil for none.
        public internal(set) var passwordSource: String?
        /// What must hold an entry in a database on a server; nil for the default.
        public internal(set) var durability: AuditDurability?
        /// The log's private key. The gateway creates it with the log if both are missing.
        public internal(set) var key = File.none
        /// The log's name in checkpoints (C2SP tlog-checkpoint); nil: from the host's name. Only a new log takes it.
        public internal(set) var origin: String?
        /// The gateway refuses a request whose write takes longer, and releases no signature.
        public internal(set) var writeTimeout: Duration = .seconds(2)
        /// In MiB.
        var reserve = 256
        public internal(set) var checkpoints = Checkpoints()
        public let section: ConfigurationOrigin

        /// The gateway raises an alarm if less than this is free on the database's disk.
        public var reserveBytes: Int { reserve << 20 }

        static let example = "/var/lib/privyseal/audit.db"

        init(_ section: ConfigurationOrigin) {
            self.section = section
        }

        /// Every setting needs a restart, because the gateway opens the log once.
        static let settings: [Setting<Self>] = [
            .value(
                "database", \.database, .auditDatabase(such: example),
                missing: "the absolute path of the log's database, such as \(example)", needsRestart: true,
                "an SQLite database, created if it is missing in a directory that the gateway may write to; or the URL "
                    + "of a PostgreSQL database for the logs of many gateways, see [postgresql.md](postgresql.md)"),
            .optional(
                "passwordSource", \.passwordSource, .passwordSource, needsRestart: true, standard: "no password",
                "the password of a PostgreSQL database"),
            .optional(
                "durability", \.durability, .choice, needsRestart: true, standard: "`replicated`",
                "what must hold an entry in PostgreSQL before its signature is released: also a synchronous standby, "
                    + "or one server, whose loss may lose entries"),
            .value(
                "key", \.key, .file(such: example + ".key"), needsRestart: true,
                standard: "the database's path and `.key`; required with PostgreSQL",
                "the log's private key (Ed25519); created with the log, with its public key next to it in `.pub`"),
            .optional(
                "origin", \.origin, .auditOrigin, needsRestart: true,
                standard: "from the host's name; required with PostgreSQL",
                "the name of the log in its checkpoints; it is fixed when the log is created. Different for each gateway"
            ),
            .value(
                "writeTimeout", \.writeTimeout, .seconds(1...60), needsRestart: true,
                "seconds that a write may take before its requests are refused"),
            .value(
                "reserve", \.reserve, .integer(1...1_048_576, unit: "MiB"), needsRestart: true,
                "free MiB on the database's disk below which an alarm is raised"),
            .section("checkpoints", \.checkpoints),
        ]

        mutating func finish(_ given: GivenSettings, _ findings: Findings) {
            if let file = database.file {
                if given.origin(of: "key") == nil { key = file.beside(".key", given.origin.child("key")) }
                for name in ["passwordSource", "durability"] {
                    guard let origin = given.origin(of: name) else { continue }
                    findings.fault("has no effect on an SQLite database; remove it", at: origin)
                }
            } else if !database.text.isEmpty {
                if !given.isPresentOrMisspelt("key") {
                    findings.fault(
                        "is missing; give the absolute path of the log's private key on this machine, such as "
                            + Self.example + ".key", at: given.origin.child("key"))
                }
                // A gateway that has lost its key would otherwise begin another log under another name.
                if !given.isPresentOrMisspelt("origin") {
                    findings.fault(
                        "is missing; give the name of this gateway's log in the database, such as "
                            + "example.com/privyseal/shop-1", at: given.origin.child("origin"))
                }
                if let origin = given.origin(of: "reserve") {
                    findings.fault("has no effect, because the database's disk is the server's; remove it", at: origin)
                }
            }
            if checkpoints.file.path.isEmpty, !localPath.isEmpty, !given.faulty.contains("checkpoints") {
                let section = given.origin(of: "checkpoints") ?? given.origin.child("checkpoints")
                checkpoints.file = File(path: localPath + ".checkpoints", origin: section.child("file"))
            }
            let others = [key, checkpoints.file, checkpoints.tokenFile, checkpoints.policy?.file].compactMap(\.self)
                .filter {
                    !$0.path.isEmpty
                }
            for (index, file) in others.enumerated() {
                // The gateway would overwrite the contents of a file that two settings name.
                if let other = ([database.file].compactMap(\.self) + others[..<index]).first(where: file.isSame) {
                    findings.fault(
                        "is also the path of \(other.origin.path); give each file its own path", at: file.origin)
                }
                if companions.contains(where: file.isSame) {
                    findings.fault("is a file of the audit log itself; give another path", at: file.origin)
                }
            }
        }

        /// The path that the names of the log's other files on this machine begin with: of the database, or of the key
        /// without `.key`.
        public var localPath: String {
            if let file = database.file { return file.path }
            return key.path.hasSuffix(".key") ? String(key.path.dropLast(4)) : key.path
        }

        /// The files of an SQLite database; none of another one.
        public var databaseFiles: [String] {
            guard let path = database.file?.path, !path.isEmpty else { return [] }
            let index = (path.hasSuffix(".db") ? String(path.dropLast(3)) : path) + ".index.db"
            return [path, index].flatMap { file in ["", "-wal", "-shm", "-journal"].map { file + $0 } }
        }

        /// The files that the gateway itself keeps next to the database and the key.
        private var companions: [File] {
            let publicKey = key.path.isEmpty ? [] : [key.beside(".pub", key.origin)]
            return publicKey + databaseFiles.dropFirst().map { File(path: $0, origin: database.origin) }
        }
    }

    /// The interval and the destinations of the log's signed checkpoints.
    public struct Checkpoints: SettingSection {
        public enum Output: String, CaseIterable, Sendable {
            case none, stdout, syslog
        }

        public internal(set) var interval: Duration = .seconds(60)
        /// The gateway appends checkpoints to it.
        public internal(set) var file = File.none
        public internal(set) var output: Output = .none
        /// The URL for posting checkpoints; nil for none. Plain HTTP is allowed on this machine only.
        public internal(set) var endpoint: String?
        /// The file with the bearer token for `endpoint`; nil without an endpoint.
        public internal(set) var tokenFile: File?
        /// Signs the checkpoints, in addition to the log's own key.
        public internal(set) var cosigner: KeyLocation?
        /// Nil without witnesses.
        public internal(set) var policy: WitnessPolicyFile?
        /// What happens without the signatures of enough witnesses; nil without witnesses.
        public internal(set) var witness: WitnessFailure?

        static let settings: [Setting<Self>] = [
            .value(
                "interval", \.interval, .seconds(1...86_400), needsRestart: true,
                "seconds between two checkpoints, also if nothing is signed. Above 900, raise the limit of the alert "
                    + "`PrivySealCheckpointsStay`"),
            .value(
                "file", \.file, .file(such: "/mnt/worm/privyseal.checkpoints"), needsRestart: true,
                standard: "the database's path and `.checkpoints`; with PostgreSQL, the key's path instead",
                "a file to which checkpoints are appended"),
            .value("output", \.output, .choice, needsRestart: true, "an additional destination of checkpoints"),
            .optional(
                "url", \.endpoint, .url(for: .checkpoints, "an `https:` URL; `http:` on this machine only"),
                needsRestart: true,
                "the destination to which checkpoints are posted: a URL with its path, without user, password and query"
            ),
            .optional(
                "tokenFile", \.tokenFile, .file(such: "/etc/privyseal/witness.token"), needsRestart: true,
                standard: "no token", "a file with the bearer token for `url`"),
            .optional(
                "cosigner", \.cosigner, .keyLocation("a URI, see [keys](#accountskeys)"), needsRestart: true,
                standard: "only the log's key signs",
                "a P-256 key that also signs each checkpoint; a separate key, not one that signs offers"),
            .optional(
                "policy", \.policy, .witnessPolicy, needsRestart: true, standard: "no witnesses",
                "a file with the witnesses that cosign each checkpoint, their URLs, and how many of them are needed "
                    + "(C2SP tlog-policy)"),
            .optional(
                "witness", \.witness, .choice, needsRestart: true, standard: "required with `policy`",
                "what happens while too few witnesses cosign: `require` signs nothing, `warn` signs and raises an alert"
            ),
        ]

        /// For the log of a fleet: the same interval and witnesses. The gateway's own log decides whether it signs.
        mutating func takeWitnesses(of own: Self) {
            (interval, policy) = (own.interval, own.policy)
            witness = own.policy == nil ? nil : .warn
        }

        func finish(_ given: GivenSettings, _ findings: Findings) {
            if let origin = given.origin(of: "tokenFile"), !given.isPresentOrMisspelt("url") {
                findings.fault(
                    "has no effect, because checkpoints are not posted to a URL; give url, or remove it", at: origin)
            }
            if let origin = given.origin(of: "witness"), !given.isPresentOrMisspelt("policy") {
                findings.fault(
                    "has no effect without witnesses; give policy, the absolute path of a file with witnesses, or "
                        + "remove it", at: origin)
            }
            if policy != nil, !given.isPresentOrMisspelt("witness") {
                findings.fault(
                    "is missing; give require, to sign nothing while too few witnesses cosign, or warn",
                    at: given.origin.child("witness"))
            }
        }
    }
}

extension SettingKind<String> {
    /// Accepts what a line of a note and the name of its key may contain (C2SP signed-note, tlog-checkpoint).
    static var auditOrigin: Self {
        .parsed("1 to 128 visible ASCII characters without spaces and `+`") { text throws(InvalidValue) in
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "+") }
            try require(
                isVisible && (1...128).contains(text.utf8.count),
                "must be 1 to 128 visible ASCII characters without spaces and plus signs, such as "
                    + "example.com/privyseal/shop-1")
            return text
        }
    }
}

extension GatewayConfiguration {
    /// The settings of the drills, which rehearse key incidents and rotations.
    public struct Drills: SettingSection {
        public internal(set) var directory = File.none

        private static let example = "/var/lib/privyseal/drills"

        static let settings: [Setting<Self>] = [
            .value(
                "directory", \.directory, .absolutePath(of: "directory", such: example),
                missing: "the absolute path of a directory for the records of drills, such as \(example)",
                standard: "`drills` next to `audit.database`, or to `audit.key` with PostgreSQL",
                "a directory for the records of drills; created if it is missing")
        ]
    }

    /// The configured directory, or `drills` next to the audit log's database or key. Nil if neither is configured.
    public var drillDirectory: String? {
        if let drills { return drills.directory.path }
        guard let path = audit?.localPath, let slash = path.lastIndex(of: "/") else { return nil }
        return "\(path[...slash])drills"
    }
}
