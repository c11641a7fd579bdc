public import SigningKit

extension AWSKMSBackend: KeyProvisioning {
    public static func uri(_ uri: KeyURI, naming keyID: String) throws(KeyError) -> KeyURI {
        try KMSAddress(uri).naming(keyID)
    }

    public static func provisioningSession(
        at locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> any ProvisioningSession {
        KMSProvisioningSession(backend: try await open(locator, in: environment))
    }
}
