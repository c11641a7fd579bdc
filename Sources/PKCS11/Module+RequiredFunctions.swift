internal import CP11Kit
internal import Glibc

extension Module {
    /// Looks for the functions that p11-kit calls by itself, before it calls them: in a managed module these are
    /// p11-kit's own, which crash where the library's are NULL.
    ///
    /// Right after `p11_kit_module_load` loaded the library.
    static func checkManagedFunctions(of path: String) throws(PKCS11Error) {
        guard let library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD) else { return }
        defer { dlclose(library) }
        guard let symbol = dlsym(library, "C_GetFunctionList") else { return }
        let getFunctionList = unsafeBitCast(
            symbol, to: (@convention(c) (UnsafeMutablePointer<CK_FUNCTION_LIST_PTR?>?) -> CK_RV).self)
        var list: CK_FUNCTION_LIST_PTR?
        guard getFunctionList(&list) == CKR_OK, let functions = list?.pointee else { return }
        _ = try ModuleAnswer.function(.initialize, functions.C_Initialize)
        _ = try ModuleAnswer.function(.finalize, functions.C_Finalize)
        _ = try ModuleAnswer.function(.openSession, functions.C_OpenSession)
        _ = try ModuleAnswer.function(.closeSession, functions.C_CloseSession)
    }
}
