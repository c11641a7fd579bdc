import Foundation
import PKCS11

/// One fault: one call of a function returns an error.
struct FaultCase: CustomStringConvertible {
    let function: String
    let code: ReturnValue
    /// The number of the call that returns it, counted from 1.
    let call: Int

    var rule: String { "\(function) from=\(call) to=\(call) rv=0x\(String(code.rawValue, radix: 16))" }
    var description: String { "\(function)\t\(call)\t\(code)" }

    /// The functions, grouped by the scenario that calls them.
    static let signing = [
        "C_Initialize", "C_Finalize", "C_GetSlotList", "C_GetTokenInfo", "C_OpenSession", "C_CloseSession",
        "C_GetSessionInfo", "C_Login", "C_FindObjectsInit", "C_FindObjects", "C_FindObjectsFinal",
        "C_GetAttributeValue", "C_SignInit", "C_Sign",
    ]
    static let inspecting = ["C_GetInfo", "C_GetSlotInfo", "C_GetMechanismList", "C_WrapKey"]
    static let provisioning = [
        "C_GetMechanismInfo", "C_GenerateKey", "C_EncryptInit", "C_Encrypt", "C_UnwrapKey", "C_CreateObject",
        "C_DestroyObject", "C_GenerateKeyPair",
    ]

    static let calls = [1, 2, 50]

    /// Every return value of the standard except CKR_OK, and three vendor-defined values.
    static var codes: [ReturnValue] {
        ReturnValue.standard.filter { $0 != .ok }
            + [0x8000_0000, 0x8000_0001, 0xCE53_4351].map(ReturnValue.init(rawValue:))
    }

    /// The cases of a normal test run: one value for each kind of recovery, on the first and the second call.
    static var few: [FaultCase] {
        let codes: [ReturnValue] = [
            .deviceError, .sessionHandleInvalid, .userNotLoggedIn, .cryptokiNotInitialized, .argumentsBad, .pinLocked,
            ReturnValue(rawValue: 0x8000_0001),
        ]
        return cases(of: signing + inspecting + provisioning, codes, [1, 2])
    }

    static func cases(of functions: [String], _ codes: [ReturnValue], _ calls: [Int]) -> [FaultCase] {
        functions.flatMap { function in
            calls.flatMap { call in codes.map { FaultCase(function: function, code: $0, call: call) } }
        }
    }
}

enum FaultVerdict: CustomStringConvertible {
    /// Without the operator, this long after the first failed request; zero if no request failed.
    case recovered(Duration)
    /// After the operator looked at the token and ordered a reload, or repeated a command.
    case person
    case wrong(String)
    /// The fault persists, even after the operator's order.
    case hungCalls(String)
    /// The scenario calls the function fewer times.
    case unreached

    var isFine: Bool {
        switch self {
        case .recovered, .person: true
        case .wrong, .hungCalls, .unreached: false
        }
    }

    var description: String {
        switch self {
        case .recovered(let time): "recovered in \(Int(time / .milliseconds(1))) ms"
        case .person: "needs a person"
        case .wrong(let sentence): "wrong answer: \(sentence)"
        case .hungCalls(let sentence): "does not recover: \(sentence)"
        case .unreached: "the call is never made"
        }
    }
}
