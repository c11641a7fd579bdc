import GatewayConfiguration
import Testing

@Suite("Listener settings")
struct ListenerTests {
    @Test("the reader keeps every listener setting with its origin")
    func everySetting() throws {
        let configuration = try configuration(Examples.network)
        #expect(configuration.listeners.map(\.role) == [.public, .admin, .metrics])
        let (listener, admin) = (configuration.publicListener, try #require(configuration.adminListener))
        #expect(configuration.publicListener.address == .tcp(host: "0.0.0.0", port: 8443))
        #expect(configuration.publicListener.origin?.description == "gateway.yaml:3: listeners.public.address")
        let tls = try #require(listener.tls)
        #expect(tls.certificate.path == "/etc/privyseal/tls/cert.pem")
        #expect(tls.certificate.origin.description == "gateway.yaml:5: listeners.public.tls.certificate")
        #expect(tls.key.path == "/etc/privyseal/tls/key.pem")
        #expect(tls.minimumVersion == .tls13)
        #expect(tls.clientCertificates == .optional)
        #expect(tls.trustRoots?.path == "/etc/privyseal/tls/clients-ca.pem")
        #expect(!listener.isBehindProxy)
        #expect(admin.address == .unixSocket(path: "/run/privyseal/admin.sock"))
        #expect(admin.mode?.bits == 0o660)
        #expect(admin.mode?.description == "0660")
        #expect(admin.owner?.user == "privyseal")
        #expect(admin.owner?.group == "www-data")
        #expect(configuration.metricsListener?.address == .tcp(host: "127.0.0.1", port: 9464))
    }

    @Test("the default is one public listener on this machine without TLS")
    func defaults() throws {
        let configuration = try configuration(Examples.least)
        #expect(configuration.listeners.map(\.role) == [.public])
        #expect(configuration.publicListener.tls == nil)
        #expect(configuration.publicListener.origin == nil)
        let plain = "listeners: {public: {tls: {certificate: /c.pem, key: /k.pem}}}\n" + Examples.least
        let tls = try #require(try GatewayConfigurationTests.configuration(plain).publicListener.tls)
        #expect(tls.minimumVersion == .tls12)
        #expect(tls.clientCertificates == .notAsked)
        #expect(tls.trustRoots == nil)
    }

    @Test(
        "the reader accepts valid combinations of listener settings",
        arguments: [
            "public: {address: \"0.0.0.0:80\", behindProxy: true}",
            "public: {address: \"unix:/run/a.sock\", behindProxy: true, mode: 0666, owner: \"33\"}",
            "public: {address: \"127.0.0.1:80\", tls: {certificate: /c, key: /k}, behindProxy: false}",
            "admin: {address: \"0.0.0.0:1\", tls: {certificate: /c, key: /k, clientCertificates: required, trustRoots: /r}}",
            "admin: {address: \"localhost:1\"}", "metrics: {address: \"0.0.0.0:1\", tls: {certificate: /c, key: /k}}",
            "admin: {address: \"127.0.0.1:0\"}\n  metrics: {address: \"127.0.0.1:0\"}",
        ])
    func allowed(_ section: String) {
        #expect(faults(in: "listeners:\n  \(section)\n" + Examples.least) == [])
    }

    static let reach =
        "can be reached from other machines without TLS, so others could read the traffic; give listeners.%.tls with "
        + "a certificate and a key, or set listeners.%.behindProxy: true if a proxy in front terminates TLS, or "
        + "listen on 127.0.0.1, [::1] or a Unix socket."
    static let administrators =
        "gateway.yaml:2: listeners.admin.address: can be reached from other machines, so administrators must show a "
        + "certificate; give listeners.admin.tls with clientCertificates: required, or listen on a Unix socket or 127.0.0.1."
    static let files = "certificate: /c, key: /k"

    @Test(
        "the reader refuses invalid combinations of listener settings and names the cure",
        arguments: [
            (
                "public: {address: \"0.0.0.0:80\"}",
                "gateway.yaml:2: listeners.public.address: " + reach.replacing("%", with: "public")
            ),
            (
                "public: {address: \"[::]:80\", behindProxy: false}",
                "gateway.yaml:2: listeners.public.address: " + reach.replacing("%", with: "public")
            ),
            (
                "metrics: {address: \"10.0.0.1:80\"}",
                "gateway.yaml:2: listeners.metrics.address: " + reach.replacing("%", with: "metrics")
            ),
            ("admin: {address: \"10.0.0.1:80\"}", administrators),
            ("admin: {address: \"10.0.0.1:80\", behindProxy: true}", administrators),
            ("admin: {address: \"10.0.0.1:80\", tls: {\(files)}}", administrators),
            (
                "admin: {address: \"10.0.0.1:80\", tls: {\(files), clientCertificates: optional, trustRoots: /r}}",
                administrators
            ),
            (
                "public: {address: \"0.0.0.0:80\", tls: {\(files)}, behindProxy: true}",
                "gateway.yaml:2: listeners.public.behindProxy: says that a proxy terminates TLS, but tls is also "
                    + "given; keep one of them."
            ),
            (
                "public: {address: \"unix:/run/a.sock\", tls: {\(files)}}",
                "gateway.yaml:2: listeners.public.tls: is for TCP, but this listener is a Unix socket; remove it."
            ),
            (
                "public: {mode: \"0660\"}",
                "gateway.yaml:2: listeners.public.mode: is for a Unix socket, but this listener is not one; remove it."
            ),
            (
                "metrics: {address: \"127.0.0.1:1\", owner: www-data}",
                "gateway.yaml:2: listeners.metrics.owner: is for a Unix socket, but this listener is not one; remove "
                    + "it."
            ),
            (
                "metrics: {address: \"127.0.0.1:8080\"}",
                "gateway.yaml:2: listeners.metrics.address: is also the address of listeners.public; give each "
                    + "listener its own."
            ),
            (
                "admin: {mode: \"0660\"}",
                "gateway.yaml:2: listeners.admin.address: is missing; give the address that it listens on, such as "
                    + "unix:/run/privyseal/admin.sock."
            ),
            (
                "admin: {adress: \"unix:/a\"}",
                "gateway.yaml:2: listeners.admin.adress: is not a known key; did you mean address? The keys are "
                    + "address, tls, behindProxy, mode, owner."
            ),
            (
                "amdin: {}",
                "gateway.yaml:2: listeners.amdin: is not a known key; did you mean admin? The keys are public, "
                    + "admin, metrics."
            ),
            (
                "public: {tls: {key: /k}}",
                "gateway.yaml:2: listeners.public.tls.certificate: is missing; give the certificate chain in PEM, such as "
                    + "/etc/privyseal/tls/cert.pem."
            ),
            (
                "public: {tls: {certificate: /c}}",
                "gateway.yaml:2: listeners.public.tls.key: is missing; give the certificate's private key in PEM, such as "
                    + "/etc/privyseal/tls/key.pem."
            ),
            (
                "public: {tls: {certificate: /c, key: tls/key.pem}}",
                "gateway.yaml:2: listeners.public.tls.key: must be the absolute path of a file, such as "
                    + "/etc/privyseal/tls/key.pem."
            ),
            (
                "public: {tls: {\(files), minimumVersion: 1.1}}",
                "gateway.yaml:2: listeners.public.tls.minimumVersion: is \"1.1\", which is not known; did you mean 1.2? The "
                    + "choices are 1.2, 1.3."
            ),
            (
                "public: {tls: {\(files), clientCertificates: require}}",
                "gateway.yaml:2: listeners.public.tls.clientCertificates: is \"require\", which is not known; did you mean "
                    + "required? The choices are none, optional, required."
            ),
            (
                "public: {tls: {\(files), clientCertificates: require, trustRoots: /r}}",
                "gateway.yaml:2: listeners.public.tls.clientCertificates: is \"require\", which is not known; did you mean "
                    + "required? The choices are none, optional, required."
            ),
            (
                "public: {tls: {\(files), clientCertificates: required}}",
                "gateway.yaml:2: listeners.public.tls.trustRoots: is missing; give the CA certificates in PEM that "
                    + "verify client certificates, such as /etc/privyseal/tls/clients-ca.pem."
            ),
            (
                "public: {tls: {\(files), trustRoots: /r}}",
                "gateway.yaml:2: listeners.public.tls.trustRoots: has no effect, because client certificates are not "
                    + "requested; set clientCertificates to optional or required, or remove it."
            ),
            (
                "public: {address: \"unix:/a\", mode: 660}",
                "gateway.yaml:2: listeners.public.mode: must be four octal digits and begin with 0, such as \"0660\"."
            ),
            (
                "public: {address: \"unix:/a\", mode: \"4660\"}",
                "gateway.yaml:2: listeners.public.mode: must be four octal digits and begin with 0, such as \"0660\"."
            ),
            (
                "public: {address: \"unix:/a\", mode: \"0440\"}",
                "gateway.yaml:2: listeners.public.mode: allows no user to connect, which requires write permission; "
                    + "give one such as \"0660\"."
            ),
            (
                "public: {address: \"unix:/a\", owner: \"a:b:c\"}",
                "gateway.yaml:2: listeners.public.owner: must be a user, or a user and a group, such as privyseal:www-data."
            ),
            (
                "public: {address: \"unix:/a\", owner: \"4294967295\"}",
                "gateway.yaml:2: listeners.public.owner: has the number 4294967295, which is no user and no group; give "
                    + "another one."
            ),
            (
                "public: {behindProxy: yes}",
                "gateway.yaml:2: listeners.public.behindProxy: must be true or false, but is text; write true or false, "
                    + "without quotes."
            ),
        ] as [(String, String)])
    func refused(_ section: String, _ fault: String) {
        #expect(faults(in: "listeners:\n  \(section)\n" + Examples.least) == [fault])
    }

    @Test("listen and listeners.public.address are one setting and exclude each other")
    func twice() {
        let text = "listen: 127.0.0.1:1\nlisteners: {public: {address: \"127.0.0.1:1\"}}\n" + Examples.least
        #expect(
            faults(in: text) == [
                "gateway.yaml:2: listeners.public.address: is the same setting as listen, which is also given "
                    + "(gateway.yaml:1: listen); keep one of them."
            ])
        let mixed = "listen: 0.0.0.0:1\nlisteners: {public: {behindProxy: true}}\n" + Examples.least
        #expect(faults(in: mixed) == [])
    }

    @Test("the reader allows anonymous access on this machine only, and not behind a proxy")
    func anonymous() throws {
        let local = "anonymous: true\n" + Examples.least
        #expect(try configuration(local).allowsAnonymous)
        #expect(try !configuration(Examples.least).allowsAnonymous)
        for address in ["unix:/run/a.sock", "127.0.0.1:1", "[::1]:1"] {
            #expect(try configuration(local, environment: ["PRIVYSEAL_LISTEN": address]).allowsAnonymous)
        }
        let tls = "listeners: {public: {address: \"0.0.0.0:1\", tls: {\(Self.files)}}}\n"
        #expect(
            faults(in: tls + local) == [
                "gateway.yaml:2: anonymous: allows every caller everything, and other machines can reach the public "
                    + "listener (gateway.yaml:1: listeners.public.address); remove it and give clients, or listen on "
                    + "127.0.0.1, [::1] or a Unix socket."
            ])
        #expect(
            faults(in: "listeners: {public: {behindProxy: true}}\n" + local) == [
                "gateway.yaml:2: anonymous: allows every caller everything, including callers through the proxy "
                    + "(gateway.yaml:1: listeners.public.behindProxy); remove it and give clients, or remove behindProxy."
            ])
    }

    @Test("a configuration without clients is valid but cannot be served")
    func servable() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try configuration(Examples.least).requireServable()
        }
        #expect(
            error.description
                == "gateway.yaml: clients: is missing; give at least one client, because without one the gateway "
                + "would serve no caller: privyseal clients mint NAME makes a token and shows the lines to put here "
                + "(anonymous: true instead allows every caller on this machine everything).")
        try configuration("anonymous: true\n" + Examples.least).requireServable()
        try configuration(Examples.network).requireServable()
    }
}
