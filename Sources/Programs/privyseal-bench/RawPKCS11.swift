import CP11Kit
import Foundation

/// The limit for a token key: `C_SignInit` and `C_Sign` in a loop, on several threads with one session each.
final class RawPKCS11: @unchecked Sendable {
    // The function table is fixed after `init`; each session is used by one thread.
    private let functions: UnsafeMutablePointer<CK_FUNCTION_LIST>
    private var sessions: [CK_SESSION_HANDLE] = []
    private var key = CK_OBJECT_HANDLE(0)

    init?(modulePath: String, tokenLabel: String, pinFile: String, threads: Int) {
        guard let functions = p11_kit_module_load(modulePath, 0), p11_kit_module_initialize(functions) == CKR_OK,
            let slot = Self.slot(functions, tokenLabel)
        else { return nil }
        self.functions = functions
        for _ in 0..<threads {
            var session = CK_SESSION_HANDLE(0)
            guard functions.pointee.C_OpenSession(slot, CKF_SERIAL_SESSION, nil, nil, &session) == CKR_OK else {
                return nil
            }
            sessions.append(session)
        }
        guard let pin = try? String(contentsOfFile: pinFile, encoding: .utf8) else { return nil }
        var pinBytes = Array(pin.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        let login = functions.pointee.C_Login(sessions[0], CKU_USER, &pinBytes, CK_ULONG(pinBytes.count))
        guard login == CKR_OK || login == CKR_USER_ALREADY_LOGGED_IN, let key = findPrivateKey() else { return nil }
        self.key = key
    }

    func close() {
        p11_kit_module_finalize(functions)
        p11_kit_module_release(functions)
    }

    /// - Returns: the number of signatures, made on new threads: a C call must not block Swift's threads.
    func sign(count: Int, threads: Int) async -> Int {
        let share = count / threads
        await withTaskGroup { group in
            for session in sessions.prefix(threads) {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            self.sign(count: share, in: session)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        return share * threads
    }

    private func sign(count: Int, in session: CK_SESSION_HANDLE) {
        var digest = [UInt8](repeating: 0x5A, count: 32)
        var signature = [UInt8](repeating: 0, count: 64)
        var mechanism = CK_MECHANISM(mechanism: CKM_ECDSA, pParameter: nil, ulParameterLen: 0)
        for _ in 0..<count {
            var length = CK_ULONG(signature.count)
            let isSigned =
                functions.pointee.C_SignInit(session, &mechanism, key) == CKR_OK
                && functions.pointee.C_Sign(session, &digest, 32, &signature, &length) == CKR_OK
            precondition(isSigned, "the raw loop failed")
        }
    }

    private static func slot(_ functions: UnsafeMutablePointer<CK_FUNCTION_LIST>, _ label: String) -> CK_SLOT_ID? {
        var slots = [CK_SLOT_ID](repeating: 0, count: 64)
        var count = CK_ULONG(slots.count)
        guard functions.pointee.C_GetSlotList(1, &slots, &count) == CKR_OK else { return nil }
        return slots.prefix(Int(count)).first { slot in
            var info = CK_TOKEN_INFO()
            guard functions.pointee.C_GetTokenInfo(slot, &info) == CKR_OK else { return false }
            let text = withUnsafeBytes(of: info.label) { String(decoding: $0, as: UTF8.self) }
            return text.prefix { $0 != " " } == label
        }
    }

    private func findPrivateKey() -> CK_OBJECT_HANDLE? {
        var objectClass = CKO_PRIVATE_KEY
        var handle = CK_OBJECT_HANDLE(0)
        var count = CK_ULONG(0)
        return withUnsafeMutableBytes(of: &objectClass) { value in
            var template = CK_ATTRIBUTE(type: CKA_CLASS, pValue: value.baseAddress, ulValueLen: CK_ULONG(value.count))
            guard functions.pointee.C_FindObjectsInit(sessions[0], &template, 1) == CKR_OK else { return nil }
            defer { _ = functions.pointee.C_FindObjectsFinal(sessions[0]) }
            guard functions.pointee.C_FindObjects(sessions[0], &handle, 1, &count) == CKR_OK, count == 1 else {
                return nil
            }
            return handle
        }
    }
}
