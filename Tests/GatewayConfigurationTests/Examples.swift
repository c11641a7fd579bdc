enum Examples {
    /// The documentation's example for new operators, line by line.
    static let token = """
        listen: 127.0.0.1:8080
        accounts:
          - issuerId: 57246542-96fe-1a63-e053-0824d011072a
            apps:
              - bundleId: com.example.app
                features: [legacy-promotional-offer, promotional-offer, introductory-offer-eligibility, advanced-commerce-api]
            keys:
              - keyId: 2X9R4HXF34
                uri: "pkcs11:token=appstore;object=2X9R4HXF34?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/appstore-pin"
                publicKey: "sha256:2f0e1d3c4b5a69788796a5b4c3d2e1f02f0e1d3c4b5a69788796a5b4c3d2e1f0"
            activeKey: 2X9R4HXF34
        clients:
          - name: shop
            tokens:
              - sha256: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
            allow:
              - apps: [com.example.app]
                features: ["*"]
                products: ["*"]
                offers: ["*"]
        audit: off

        """

    /// A configuration with every key.
    static let full = """
        listen: "[::1]:8443"
        verification: {sampled: 100}
        validation:
          advancedCommerce: envelope
        logging: {level: debug, format: json}
        drainDelay: 3
        shutdownGracePeriod: 12
        backends:
          pkcs11: {sessions: 2, queueLimit: 512}
          file: {allowSharedFiles: true}
        accounts:
          - issuerId: 57246542-96fe-1a63-e053-0824d011072a
            apps:
              - bundleId: com.example.app
                features: [promotional-offer]
              - bundleId: com.example.other
                features:
                  - legacy-promotional-offer
                  - advanced-commerce-api
            keys:
              - keyId: 2X9R4HXF34
                uri: pkcs11:token=appstore;object=a?pin-source=file:/run/pin
              - keyId: 3Y8S5JYG45
                uri: file:/etc/privyseal/AuthKey_3Y8S5JYG45.p8
            activeKey: 3Y8S5JYG45
          - issuerId: 69a6de70-03db-47e3-e053-5b8c7c11a4d1
            apps: [{bundleId: org.example.third, features: [promotional-offer]}]
            keys: [{keyId: ABCDEFGHIJ, uri: "file:/etc/privyseal/third.p8", cryptoperiod: 365, provenance: imported}]
            activeKey: ABCDEFGHIJ
            dualControl: false
            proposalLifetime: 3600
        audit:
          database: sqlite:/var/lib/privyseal/audit.db
          key: /etc/privyseal/audit.key
          origin: example.com/privyseal/shop-1
          writeTimeout: 3
          reserve: 512
          checkpoints:
            interval: 30
            file: /mnt/worm/privyseal.checkpoints
            output: syslog
            url: https://witness.example.com/checkpoints
            tokenFile: /etc/privyseal/witness.token
            cosigner: "pkcs11:token=audit;object=log?pin-source=file:/run/audit-pin"
        drills: {directory: /srv/drills}
        proofInterval: 300

        """

    /// The smallest usable configuration, in ten lines. The key's URI is on line 8.
    static let least = """
        accounts:
          - issuerId: 57246542-96fe-1a63-e053-0824d011072a
            apps:
              - bundleId: com.example.app
                features: [promotional-offer]
            keys:
              - keyId: 2X9R4HXF34
                uri: file:/etc/privyseal/AuthKey.p8
            activeKey: 2X9R4HXF34
        audit: off

        """

    /// A complete configuration for a gateway on a network. The digest of a token is on line 16.
    static let network = """
        listeners:
          public:
            address: 0.0.0.0:8443
            tls:
              certificate: /etc/privyseal/tls/cert.pem
              key: /etc/privyseal/tls/key.pem
              minimumVersion: "1.3"
              clientCertificates: optional
              trustRoots: /etc/privyseal/tls/clients-ca.pem
          admin: {address: "unix:/run/privyseal/admin.sock", mode: "0660", owner: "privyseal:www-data"}
          metrics: {address: "127.0.0.1:9464"}
        clients:
          - name: shop
            administrator: true
            tokens:
              - sha256: "1a2b3c4d00000000000000000000000000000000000000000000000000000000"
                expires: 2027-01-01T00:00:00Z
              - {sha256: 5e6f7a8b00000000000000000000000000000000000000000000000000000000}
            certificates:
              - fingerprint: "sha256:2f0e1d3c4b5a69788796a5b4c3d2e1f02f0e1d3c4b5a69788796a5b4c3d2e1f0"
              - dnsName: Shop.example.com
              - uri: spiffe://example.com/shop
            uids: [1001, 0]
            allow:
              - apps: [com.example.app]
                features: [promotional-offer]
                products: ["com.example.*"]
                offers: ["*"]
                keyIds: [2X9R4HXF34]
              - apps: ["com.*"]
                features: ["promotional-*"]
            rate: {perSecond: 0.5, burst: 100}
            dailyQuota: 100000
          - name: 2nd.shop_of-many
            uids: [1002]
            allow: [{apps: ["*"], features: ["*"]}]
        limits:
          connections: 100
          requestTimeout: 11
          handshakeTimeout: 12
          idleTimeout: 13
          connectionAge: 14
          headerBytes: 2048
          batchBodyBytes: 4096
          clientBodyBytes: 2097152
          totalBodyBytes: 4194304
        tracing:
          endpoint: http://127.0.0.1:4318/v1/traces
          sampling: 0.1
          serviceName: shop-signer

        """ + least

    static func network(_ text: String, _ replacement: String) -> String {
        precondition(network.contains(text), "the example no longer holds \(text)")
        return network.replacing(text, with: replacement)
    }

    static func least(_ text: String, _ replacement: String) -> String {
        precondition(least.contains(text), "the example no longer holds \(text)")
        return least.replacing(text, with: replacement)
    }
}
