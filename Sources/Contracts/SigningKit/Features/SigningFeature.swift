public import StrictJSON

/// One kind of App Store signature. It is a pure function from a request and a grant to the bytes to sign, and from a
/// signature to the response. It uses no clock, randomness, I/O or key.
public protocol SigningFeature: Sendable {
    /// Read from the caller's JSON, which finds every error of the request's form.
    associatedtype Input: JSONReadable & Sendable
    associatedtype Output: JSONWritable & Sendable

    static var descriptor: FeatureDescriptor { get }

    /// The settings that the feature offers to operators, under `validation` in the configuration. Their names are unique
    /// among all features. By default, there are none.
    static var settings: [PluginSetting] { get }

    /// All product and offer identifiers in `input`. Policy decides by them before `compose`, and the audit log records
    /// them. There is deliberately no default: policy does not check an identifier that is missing here.
    ///
    /// - Parameter input: parsed, but perhaps not yet valid, if `compose` validates it.
    func subject(of input: Input) -> OfferSubject

    /// - Throws: `FeatureError.request` if the members do not fit each other or the grant.
    func compose(_ input: Input, for grant: Grant) throws(FeatureError) -> Draft<Output>
}

extension SigningFeature {
    public static var settings: [PluginSetting] { [] }
}
