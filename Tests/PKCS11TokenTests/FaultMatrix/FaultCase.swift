import Foundation
import PKCS11

/// One fault: a function answers a code, once.
struct FaultCase: CustomStringConvertible {
    let function: String
    let code: ReturnValue
    /// Which call of the function answers it, counted from 1.
    let call: Int

    var rule: String { "\(function) from=\(call) to=\(call) rv=0x\(String(code.rawValue, radix: 16))" }
    var description: String { "\(function)\t\(call)\t\(code)" }

    /// By what they are reached with.
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

    /// Every value of the standard but CKR_OK, and three of vendors.
    static var codes: [ReturnValue] {
        ReturnValue.standard.filter { $0 != .ok }
            + [0x8000_0000, 0x8000_0001, 0xCE53_4351].map(ReturnValue.init(rawValue:))
    }

    /// What runs with the other tests: one code of each kind of recovery, on the first and the second call.
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

/// What came of a fault.
enum FaultVerdict: CustomStringConvertible {
    /// By itself, so long after the first request that failed; zero where none did.
    case recovered(Duration)
    /// After a person looked at the token and ordered a reload, or repeated a command.
    case person
    case wrong(String)
    /// Neither by itself nor by a person's order.
    case stuck(String)
    /// The scenario does not call the function so often.
    case unreached

    var isFine: Bool {
        switch self {
        case .recovered, .person: true
        case .wrong, .stuck, .unreached: false
        }
    }

    var description: String {
        switch self {
        case .recovered(let time): "recovered in \(Int(time / .milliseconds(1))) ms"
        case .person: "needs a person"
        case .wrong(let sentence): "wrong answer: \(sentence)"
        case .stuck(let sentence): "does not recover: \(sentence)"
        case .unreached: "the call is never made"
        }
    }
}
