import SigningKit
import Testing

@Suite("Key backend reports")
struct KeyBackendReportTests {
    private struct Plain: KeyBackend {
        static let scheme = "plain"
        static let settings: [PluginSetting] = []

        static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
            KeyAddress(locator: KeyLocator(uri), selector: KeySelector(uri))
        }

        static func open(_ locator: KeyLocator, in environment: KeyBackendEnvironment) async throws(KeyError) -> Plain {
            Plain()
        }

        func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey { throw .notFound("None.") }
        func health() async -> KeyBackendHealth { .degraded("It is tired.") }
        func close() async {}
    }

    @Test("the default report of a backend has its health")
    func health() async {
        let backend: any KeyBackend = Plain()
        #expect(await backend.report() == KeyBackendReport(health: .degraded("It is tired.")))
    }
}
