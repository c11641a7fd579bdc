public import SigningKit
import StrictJSON

extension SigningFeature {
    /// Composes a draft from the bytes of a body in the gateway's steps: parse, read, compose.
    public func draft(from body: [UInt8], for grant: Grant) throws(FeatureError) -> Draft<Output> {
        try compose(input(from: body), for: grant)
    }

    /// Reads a request from the bytes of a body.
    public func input(from body: [UInt8]) throws(FeatureError) -> Input {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch { throw .body(error) }
        do { return try Input(from: document.root) } catch { throw .request(error) }
    }
}
