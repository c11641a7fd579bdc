/// Reads `tls` of a listener, without opening a file.
struct TLSReader {
    typealias TLS = GatewayConfiguration.TLS

    private let findings: Findings

    init(_ findings: Findings) {
        self.findings = findings
    }

    func read(_ node: SettingNode) -> TLS? {
        let keys = ["certificate", "key", "minimumVersion", "clientCertificates", "trustRoots"]
        guard let mapping = MappingReader(node, keys: keys, findings) else { return nil }
        let certificate = mapping.required(
            "certificate", "the certificate chain in PEM, such as /etc/privyseal/tls/cert.pem")?.file(findings)
        let key = mapping.required(
            "key", "the certificate's private key in PEM, such as /etc/privyseal/tls/key.pem")?.file(findings)
        let version = mapping.optional("minimumVersion").map { $0.choice(TLS.Version.self, findings) } ?? .tls12
        let clients =
            mapping.optional("clientCertificates").map {
                $0.choice(GatewayConfiguration.ClientCertificates.self, findings)
            } ?? .notAsked
        let roots = trustRoots(mapping, clients)
        guard let certificate, let key, let version, let clients else { return nil }
        return TLS(
            certificate: certificate, key: key, minimumVersion: version, clientCertificates: clients, trustRoots: roots,
            origin: node.origin)
    }

    /// - Parameter clients: Nil if it could not be read. The combination is not checked then.
    private func trustRoots(
        _ mapping: MappingReader, _ clients: GatewayConfiguration.ClientCertificates?
    ) -> GatewayConfiguration.File? {
        switch clients {
        case nil: return mapping.optional("trustRoots")?.file(findings)
        case .notAsked:
            guard let node = mapping.optional("trustRoots") else { return nil }
            let sentence =
                "has no effect, because client certificates are not requested; set clientCertificates to optional or "
                + "required, or remove it"
            findings.fault(.notAllowed(sentence), at: node.origin)
            return nil
        case .optional, .required:
            let what =
                "the CA certificates in PEM that verify client certificates, such as /etc/privyseal/tls/clients-ca.pem"
            return mapping.required("trustRoots", what)?.file(findings)
        }
    }
}
