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

/// The identifiers in a request on which policy and the audit log depend.
public struct OfferSubject: Hashable, Sendable {
    /// Product identifiers and SKUs, in the order of the request, without duplicates.
    public let products: [String]
    /// Offer identifiers, in the order of the request, without duplicates.
    public let offers: [String]
    /// What a request for a service token chooses: the claim `scope`.
    public let scopes: [String]
    /// The same for `origin`.
    public let origins: [String]
    /// The same for `sub`, if a caller may choose it.
    public let subject: String?
    /// The lifetime in seconds.
    public let lifetime: Int64?
    /// Identifies the user: an account token, user name or transaction. Only its keyed hash is kept, in the audit log.
    public let user: String?

    public init(
        products: [String] = [], offers: [String] = [], scopes: [String] = [], origins: [String] = [],
        subject: String? = nil, lifetime: Int64? = nil, user: String? = nil
    ) {
        self.scopes = scopes
        self.origins = origins
        self.subject = subject
        self.lifetime = lifetime
        self.products = products
        self.offers = offers
        self.user = user
    }
}

/// The bytes that a feature wants signed, and the conversion of the signature into a response.
public struct Draft<Output: Sendable>: Sendable {
    /// The bytes whose SHA-256 is signed.
    public let signingInput: [UInt8]
    /// When what is signed ceases to be valid; nil if it does not say so.
    public let expires: Timestamp?
    /// Makes the response from the signature. It cannot fail.
    public let makeAnswer: @Sendable (P256Signature) -> Output

    public init(
        signingInput: [UInt8], expires: Timestamp? = nil, makeAnswer: @escaping @Sendable (P256Signature) -> Output
    ) {
        self.signingInput = signingInput
        self.expires = expires
        self.makeAnswer = makeAnswer
    }
}

/// Why a request does not become a draft. The cause is always the caller's request.
public enum FeatureError: Error, Equatable, Sendable {
    case body(JSONSyntaxError)
    /// A member is missing, unknown, of the wrong kind or not allowed. The error names it.
    case request(JSONReadError)
}

extension FeatureError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .body(let error): error.description
        case .request(let error): error.description
        }
    }
}
