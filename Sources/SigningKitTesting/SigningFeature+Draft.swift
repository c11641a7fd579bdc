public import SigningKit
import StrictJSON

extension SigningFeature {
    /// A draft from the bytes of a body, in the gateway's steps: parse, read, compose.
    public func draft(from body: [UInt8], for grant: Grant) throws(FeatureError) -> Draft<Output> {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: body) } catch { throw .body(error) }
        let input: Input
        do { input = try Input(from: document.root) } catch { throw .request(error) }
        return try compose(input, for: grant)
    }
}
