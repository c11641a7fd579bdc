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

extension Shape {
    /// The request of an operation: the members that all operations have, and its own.
    static func operation(
        _ members: Member...,
        together: @escaping @Sendable (JSONObject) throws(JSONReadError) -> Void = { _ throws(JSONReadError) in }
    ) -> Shape {
        let shared: [Member] = [
            // `Operation.check` has read this member already, to choose the shape.
            .required("operation", .oneOf(Operation.allCases.map(\.rawValue))),
            .required("version", .oneOf(["1"])),
            .required("requestInfo", .object(.requestInfo)),
        ]
        return Shape(shared + members, together: together)
    }
}
