import ProcessSandbox
import Testing

@Suite("Environment of a signer")
struct SignerEnvironmentTests {
    private let variables = [
        "PATH": "/usr/bin", "SOFTHSM2_CONF": "/a", "CKNFAST_LOADSHARING": "1", "KMS_PKCS11_CONFIG": "/b",
        "CREDENTIALS_DIRECTORY": "/c", "AWS_PROFILE": "shop", "LD_PRELOAD": "/x.so", "LD_LIBRARY_PATH": "/x",
        "GLIBC_TUNABLES": "x", "MALLOC_CHECK_": "3", "NOTIFY_SOCKET": "/d", "WATCHDOG_USEC": "1", "LISTEN_FDS": "1",
        "PRIVYSEAL_LOG_LEVEL": "debug",
    ]

    @Test("a signer keeps the variables of vendors, and none that change the loader or belong to the gateway")
    func filter() {
        let kept = SignerEnvironment.filter(variables, keepsAWS: false)
        #expect(
            kept.keys.sorted() == [
                "CKNFAST_LOADSHARING", "CREDENTIALS_DIRECTORY", "KMS_PKCS11_CONFIG", "PATH", "SOFTHSM2_CONF",
            ])
        #expect(kept["SOFTHSM2_CONF"] == "/a")
    }

    @Test("a signer for AWS KMS keeps AWS's variables")
    func aws() {
        #expect(SignerEnvironment.filter(variables, keepsAWS: true)["AWS_PROFILE"] == "shop")
    }
}
