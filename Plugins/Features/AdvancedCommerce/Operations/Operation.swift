import SigningKit
import StrictJSON

/// The four operations that an app may send; Apple's others go from server to server with a bearer token.
enum Operation: String, CaseIterable {
    case createOneTimeCharge = "CREATE_ONE_TIME_CHARGE"
    case createSubscription = "CREATE_SUBSCRIPTION"
    case modifySubscription = "MODIFY_SUBSCRIPTION"
    case reactivateSubscription = "REACTIVATE_SUBSCRIPTION"

    var shape: Shape {
        switch self {
        case .createOneTimeCharge: .createOneTimeCharge
        case .createSubscription: .createSubscription
        case .modifySubscription: .modifySubscription
        case .reactivateSubscription: .reactivateSubscription
        }
    }

    static func check(_ request: JSONValue) throws(JSONReadError) {
        let object = try request.anyObject()
        let operation = try object.required("operation") { value throws(JSONReadError) in try Operation(from: value) }
        let currency = try object.optionalUnlessNull("currency") { value throws(JSONReadError) in
            try Currency(from: value)
        }
        try operation.shape.check(request, currency)
    }

    private init(from value: JSONValue) throws(JSONReadError) {
        guard let operation = Operation(exactly: try value.string()) else {
            let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw JSONReadError(.invalid("must be one of \(known)"))
        }
        self = operation
    }
}

extension Rule {
    /// `Operation.check` has read this member already, to choose the shape.
    static let operation = oneOf(Operation.allCases.map(\.rawValue))
    static let version = oneOf(["1"])
}
