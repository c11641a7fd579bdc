import CP11Kit
import Glibc

extension Module {
    /// Loads the library and checks its function list before p11-kit does. p11-kit crashes if the list is NULL, and its
    /// managed module if a function that p11-kit calls by itself is NULL.
    ///
    /// - Returns: a handle for `dlclose`; nil for a library that p11-kit cannot load either, for a reason that it
    ///   reports.
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
        _ = try ModuleOutput.function(.initialize, functions.C_Initialize)
        _ = try ModuleOutput.function(.finalize, functions.C_Finalize)
        _ = try ModuleOutput.function(.openSession, functions.C_OpenSession)
        _ = try ModuleOutput.function(.closeSession, functions.C_CloseSession)
    }
}
