internal import CP11Kit
internal import Glibc

extension Module {
    /// Loads the library and looks at its function list before p11-kit does: p11-kit crashes where the list is NULL, and
    /// its managed module where the functions that p11-kit calls by itself are NULL.
    ///
    /// - Returns: a handle for `dlclose`; nil for a library that p11-kit cannot load either, and says why.
    static func checkedLibrary(at path: String) throws(PKCS11Error) -> UnsafeMutableRawPointer? {
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { return nil }
        do throws(PKCS11Error) { try checkFunctionList(of: library, path) } catch {
            dlclose(library)
            throw error
        }
        return library
    }

    private static func checkFunctionList(
        of library: UnsafeMutableRawPointer, _ path: String
    ) throws(PKCS11Error) {
        guard let symbol = dlsym(library, "C_GetFunctionList") else { return }
        let getFunctionList = unsafeBitCast(
            symbol, to: (@convention(c) (UnsafeMutablePointer<CK_FUNCTION_LIST_PTR?>?) -> CK_RV).self)
        var list: CK_FUNCTION_LIST_PTR?
        let answer = ReturnValue(rawValue: getFunctionList(&list))
        guard answer == .ok, let functions = list?.pointee else { throw .withoutFunctionList(path, answer) }
        _ = try ModuleAnswer.function(.initialize, functions.C_Initialize)
        _ = try ModuleAnswer.function(.finalize, functions.C_Finalize)
        _ = try ModuleAnswer.function(.openSession, functions.C_OpenSession)
        _ = try ModuleAnswer.function(.closeSession, functions.C_CloseSession)
    }
}
