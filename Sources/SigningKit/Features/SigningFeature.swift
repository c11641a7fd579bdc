public import StrictJSON

/// One kind of App Store signature: a pure function from a request and a grant to the bytes to sign, and from a
/// signature to the answer. No clock, no randomness, no I/O, no key.
public protocol SigningFeature: Sendable {
    /// Read from a caller's JSON; everything that can be wrong with a request is found here.
    associatedtype Input: JSONReadable & Sendable
    associatedtype Output: JSONWritable & Sendable

    /// The same for all values of the type.
    static var descriptor: FeatureDescriptor { get }

    /// Every product and offer identifier that `input` names: what policy decides by, before `compose`, and what the audit
    /// log records. There is no default on purpose: an identifier that is left out here is one that nobody is asked about.
    ///
    /// - Parameter input: read, but perhaps not valid yet, where `compose` validates.
    func subject(of input: Input) -> OfferSubject

    /// - Throws: `FeatureError.request` when the members do not go together, or not with the grant.
    func compose(_ input: Input, for grant: Grant) throws(FeatureError) -> Draft<Output>
}
