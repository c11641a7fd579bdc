import GatewayConfiguration
import SigningKit
import Testing

@Suite("The audit section of the configuration")
struct AuditTests {
    @Test("the reader keeps every given setting with its origin")
    func everySetting() throws {
        let configuration = try configuration(Examples.full)
        let audit = try #require(configuration.audit)
        #expect(!configuration.isAuditOff)
        #expect(configuration.warnings == [])
        #expect(audit.database.file?.path == "/var/lib/privyseal/audit.db")
        #expect(audit.database.origin.description == "gateway.yaml:33: audit.database")
        #expect(audit.key.path == "/etc/privyseal/audit.key")
        #expect(audit.origin == "example.com/privyseal/shop-1")
        #expect(audit.writeTimeout == .seconds(3))
        #expect(audit.reserveBytes == 512 << 20)
        #expect(audit.section.path == "audit")
        let checkpoints = audit.checkpoints
        #expect(checkpoints.interval == .seconds(30))
        #expect(checkpoints.file.path == "/mnt/worm/privyseal.checkpoints")
        #expect(checkpoints.output == .syslog)
        #expect(checkpoints.endpoint == "https://witness.example.com/checkpoints")
        #expect(checkpoints.tokenFile?.path == "/etc/privyseal/witness.token")
        let cosigner = try #require(checkpoints.cosigner)
        #expect(cosigner.uri.scheme == "pkcs11")
        #expect(cosigner.origin.description == "gateway.yaml:44: audit.checkpoints.cosigner")
        #expect(cosigner.description == "pkcs11:token=audit;object=log")
    }

    @Test(
        "only the database is required, and key and checkpoints default to its directory", arguments: ["", "sqlite:"])
    func defaults(_ scheme: String) throws {
        let audit = try #require(try read("{database: \"\(scheme)/a/b.db\"}").audit)
        #expect(audit.database.file?.path == "/a/b.db")
        #expect(audit.key.path == "/a/b.db.key")
        #expect(audit.key.origin.description == "gateway.yaml:1: audit.key")
        #expect(audit.origin == nil)
        #expect(audit.writeTimeout == .seconds(2))
        #expect(audit.reserveBytes == 268_435_456)
        #expect(audit.checkpoints.interval == .seconds(60))
        #expect(audit.checkpoints.file.path == "/a/b.db.checkpoints")
        #expect(audit.checkpoints.file.origin.path == "audit.checkpoints.file")
        #expect(audit.checkpoints.output == .none)
        #expect(audit.checkpoints.endpoint == nil)
        #expect(audit.checkpoints.tokenFile == nil)
        #expect(audit.checkpoints.cosigner == nil)
    }

    @Test("with a database on a server, the names of other files begin with the key's")
    func server() throws {
        let url = "postgresql://me@db1,db2/audit?sslmode=verify-full"
        let audit = try #require(try read("{database: \"\(url)\", key: /v/audit.key, origin: o}").audit)
        #expect(audit.database.text == url)
        #expect(audit.database.file == nil)
        #expect(audit.durability == nil)
        #expect(audit.passwordSource == nil)
        #expect(audit.checkpoints.file.path == "/v/audit.checkpoints")
        #expect(audit.databaseFiles == [])
        #expect(try read("{database: \"\(url)\", key: /v/audit.key, origin: o}").drillDirectory == "/v/drills")
    }

    @Test("off and false disable the audit log", arguments: ["off", "false", "\"off\""])
    func off(_ text: String) throws {
        let configuration = try read(text)
        #expect(configuration.audit == nil)
        #expect(configuration.isAuditOff)
        #expect(configuration.warnings == [])
    }

    @Test("a missing audit section disables the log with a warning")
    func silence() throws {
        let configuration = try configuration(Self.base)
        #expect(configuration.audit == nil)
        #expect(!configuration.isAuditOff)
        #expect(
            configuration.warnings.map(\.description) == [
                "gateway.yaml:1: audit: is missing, so signatures are not recorded; add audit: {database: "
                    + "/var/lib/privyseal/audit.db}, or audit: off if this is intended."
            ])
    }

    @Test("the reader accepts the minimum and maximum values")
    func bounds() throws {
        let least = try read("{database: /d, writeTimeout: 1, reserve: 1, origin: a, checkpoints: {interval: 1}}").audit
        #expect(least?.reserveBytes == 1_048_576)
        #expect(least?.checkpoints.interval == .seconds(1))
        let name = String(repeating: "~", count: 128)
        let most = try read(
            "{database: /d, writeTimeout: 60, reserve: 1048576, origin: \"\(name)\", checkpoints: {interval: 86400}}"
        ).audit
        #expect(most?.reserveBytes == 1 << 40)
        #expect(most?.origin == name)
    }

    @Test(
        "a checkpoint URL may use plain HTTP on this machine only",
        arguments: ["http://127.0.0.1:9/c", "http://localhost/c", "http://[::1]:9/c", "https://10.0.0.1/c"])
    func endpoints(_ url: String) throws {
        let audit = try read("{database: /d, checkpoints: {url: \"\(url)\"}}").audit
        #expect(audit?.checkpoints.endpoint == url)
    }

    @Test("the reader warns about a cosigner that also signs offers")
    func sharedKey() throws {
        #expect(
            try read("{database: /d, checkpoints: {cosigner: \"file:/etc/privyseal/AuthKey.p8\"}}")
                .warnings.map(\.description) == [
                    "gateway.yaml:1: audit.checkpoints.cosigner: is also the location of a key for offers "
                        + "(gateway.yaml:8: accounts[0].keys[0]); give another key."
                ])
        #expect(try read("{database: /d, checkpoints: {cosigner: \"file:/etc/privyseal/log.p8\"}}").warnings == [])
    }

    private static let missing = "give the absolute path of the log's database, such as /var/lib/privyseal/audit.db."
    private static let notOff =
        "audit: must be off, or a mapping with the database, as in {database: /var/lib/privyseal/audit.db}."
    private static let noPath =
        "audit.database: must be the absolute path of a file, such as /var/lib/privyseal/audit.db."
    private static let noURL =
        "audit.database: must be the URL of a database, such as "
        + "postgresql://privyseal@db.example.com/privyseal?sslmode=verify-full&sslrootcert=/etc/privyseal/db.pem."
    private static let withPassword =
        "audit.database: holds a password, or names a file with one; remove it, and give audit.passwordSource."
    private static let noKey =
        "audit.key: is missing; give the absolute path of the log's private key on this machine, such as "
        + "/var/lib/privyseal/audit.db.key."
    private static let keptByLog = "is a file of the audit log itself; give another path."
    private static let noOrigin =
        "audit.origin: must be 1 to 128 visible ASCII characters without spaces and plus signs, such as "
        + "example.com/privyseal/shop-1."

    @Test(
        "the reader refuses invalid settings and names the cure",
        arguments: [
            ("on", notOff), ("true", notOff), ("\"false\"", notOff), ("postgresql://me:sesame4711@db/audit", notOff),
            ("", "audit: has no value; give a mapping, or leave it out."),
            (
                "[off]",
                "audit: must be a mapping, but is a list; write each key on a line of its own, as in \"key: value\"."
            ),
            ("{}", "audit.database: is missing; " + missing), ("{key: /k}", "audit.database: is missing; " + missing),
            ("{database: audit.db}", noPath), ("{database: \"sqlite:audit.db\"}", noPath),
            ("{database: \"sqlite:\"}", noPath), ("{database: /var/lib/}", noPath),
            ("{database: \"postgresql://me:sesame4711@db/audit\"}", withPassword),
            ("{database: \"postgresql://db/audit?sslpassword=sesame4711\"}", withPassword),
            ("{database: \"postgresql://db/audit?passfile=/p\"}", withPassword),
            ("{database: \"postgres://db/audit\"}", noURL), ("{database: \"postgresql://db/a b\"}", noURL),
            ("{database: \"postgresql://db/audit\", origin: o}", noKey),
            (
                "{database: \"postgresql://db/audit\", key: /k}",
                "audit.origin: is missing; give the name of this gateway's log in the database, such as "
                    + "example.com/privyseal/shop-1."
            ),
            (
                "{database: \"postgresql://db/audit\", key: /k, origin: o, passwordSource: sesame4711}",
                "audit.passwordSource: must be file:/absolute/path or credential:NAME, not the password itself."
            ),
            (
                "{database: \"postgresql://db/audit\", key: /k, origin: o, durability: two}",
                "audit.durability: is \"two\", which is not known; the choices are replicated, oneServer."
            ),
            (
                "{database: \"postgresql://db/audit\", key: /k, origin: o, reserve: 5}",
                "audit.reserve: has no effect, because the database's disk is the server's; remove it."
            ),
            (
                "{database: /d, passwordSource: \"file:/p\"}",
                "audit.passwordSource: has no effect on an SQLite database; remove it."
            ),
            (
                "{database: /d, durability: oneServer}",
                "audit.durability: has no effect on an SQLite database; remove it."
            ),
            (
                "{database: /d, key: k}",
                "audit.key: must be the absolute path of a file, such as /var/lib/privyseal/audit.db.key."
            ),
            (
                "{database: /d, key: /d}",
                "audit.key: is also the path of audit.database; give each file its own path."
            ),
            (
                "{database: /d, key: /d.checkpoints}",
                "audit.checkpoints.file: is also the path of audit.key; give each file its own path."
            ),
            ("{database: /d, origin: \"a b\"}", noOrigin), ("{database: /d, origin: a+b}", noOrigin),
            ("{database: /d, origin: \"\"}", noOrigin), ("{database: /d, origin: ä}", noOrigin),
            ("{database: /d, origin: \(String(repeating: "a", count: 129))}", noOrigin),
            ("{database: /d, writeTimeout: 0}", "audit.writeTimeout: is 0; it must be from 1 to 60 seconds."),
            ("{database: /d, writeTimeout: 61}", "audit.writeTimeout: is 61; it must be from 1 to 60 seconds."),
            ("{database: /d, reserve: 0}", "audit.reserve: is 0; it must be from 1 to 1048576."),
            ("{database: /d, reserve: 1048577}", "audit.reserve: is 1048577; it must be from 1 to 1048576."),
            (
                "{database: /d, databse: /e}",
                "audit.databse: is not a known key; did you mean database? The keys are database, passwordSource, "
                    + "durability, key, origin, writeTimeout, reserve, checkpoints."
            ),
            (
                "{database: /d, checkpoints: {intervall: 60}}",
                "audit.checkpoints.intervall: is not a known key; did you mean interval? The keys are interval, "
                    + "file, output, url, tokenFile, cosigner, policy, witness."
            ),
            (
                "{database: /d, checkpoints: {interval: 86401}}",
                "audit.checkpoints.interval: is 86401; it must be from 1 to 86400 seconds."
            ),
            (
                "{database: /d, checkpoints: {output: std-out}}",
                "audit.checkpoints.output: is \"std-out\", which is not known; did you mean stdout? The choices are none, "
                    + "stdout, syslog."
            ),
            (
                "{database: /d, checkpoints: {file: f}}",
                "audit.checkpoints.file: must be the absolute path of a file, such as /mnt/worm/privyseal.checkpoints."
            ),
            (
                "{database: /d, checkpoints: {file: /d}}",
                "audit.checkpoints.file: is also the path of audit.database; give each file its own path."
            ),
            (
                "{database: /v/d, checkpoints: {file: /v//./d}}",
                "audit.checkpoints.file: is also the path of audit.database; give each file its own path."
            ),
            ("{database: /v/d, checkpoints: {file: /v/./d-wal}}", "audit.checkpoints.file: " + keptByLog),
            ("{database: /d, checkpoints: {file: /d-wal}}", "audit.checkpoints.file: " + keptByLog),
            ("{database: /d, checkpoints: {file: /d.index.db}}", "audit.checkpoints.file: " + keptByLog),
            ("{database: /a.db, checkpoints: {file: /a.index.db}}", "audit.checkpoints.file: " + keptByLog),
            ("{database: /d, key: /k, checkpoints: {file: /k.pub}}", "audit.checkpoints.file: " + keptByLog),
            ("{database: /d, key: /d-shm}", "audit.key: " + keptByLog),
            (
                "{database: /d, checkpoints: {url: \"https://w/c\", tokenFile: /d-journal}}",
                "audit.checkpoints.tokenFile: " + keptByLog
            ),
            (
                "{database: /d, checkpoints: {url: \"http://witness.example.com/c\"}}",
                "audit.checkpoints.url: goes to another machine without TLS, so data could be changed in transit; "
                    + "give an https:// URL."
            ),
            (
                "{database: /d, checkpoints: {url: \"https://me:sesame4711@witness.example.com/c\"}}",
                "audit.checkpoints.url: holds a user, a password, a query or a fragment; give the address alone, such as "
                    + "https://witness.example.com/checkpoints."
            ),
            (
                "{database: /d, checkpoints: {url: \"https://witness.example.com\"}}",
                "audit.checkpoints.url: has no path; give the one that accepts checkpoints, as in "
                    + "https://witness.example.com/checkpoints."
            ),
            (
                "{database: /d, checkpoints: {tokenFile: /t}}",
                "audit.checkpoints.tokenFile: has no effect, because checkpoints are not posted to a URL; give url, "
                    + "or remove it."
            ),
            (
                "{database: /d, checkpoints: {url: \"https://w/c\", tokenFile: sesame4711}}",
                "audit.checkpoints.tokenFile: must be the absolute path of a file, such as /etc/privyseal/witness.token."
            ),
            (
                "{database: /d, checkpoints: {cosigner: \"pkcs11:token=a?pin-value=sesame4711\"}}",
                "audit.checkpoints.cosigner: holds a PIN or a passphrase; put it into a file that only the gateway reads, and "
                    + "name the file with pin-source=file:/path or passphrase-source=file:/path."
            ),
            (
                "{database: /d, checkpoints: {cosigner: \"kms:sesame4711\"}}",
                "audit.checkpoints.cosigner: cannot be used: no backend serves its scheme; the schemes are pkcs11, file."
            ),
        ] as [(String, String)])
    func refused(_ section: String, _ fault: String) throws {
        let lines = faults(in: "audit: \(section)\n" + Self.base)
        #expect(lines == ["gateway.yaml:1: " + fault])
        #expect(!lines.joined().contains("sesame4711"))
    }

    @Test("a dumped configuration does not show the cosigner's PIN source")
    func dumps() throws {
        let configuration = try configuration(Examples.full.replacing("/run/audit-pin", with: "/run/sesame4711"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("sesame4711"))
    }

    private static let base = Examples.least("audit: off\n", "")

    private func read(_ section: String) throws(ConfigurationError) -> GatewayConfiguration {
        try configuration("audit: \(section)\n" + Self.base)
    }
}
