import Foundation
import ProgramTesting

/// Makes key files with `openssl`, which is independent of the code under test.
enum OpenSSL {
    struct Failure: Error {
        let arguments: [String]
        let message: String
    }

    static func run(_ arguments: String..., input: Data? = nil) throws -> Data {
        try run(arguments, input: input)
    }

    static func run(_ arguments: [String], input: Data? = nil) throws -> Data {
        let run = try ProgramRun("openssl", arguments, input: input ?? Data())
        guard run.status == 0 else {
            throw Failure(arguments: arguments, message: String(decoding: run.errors, as: UTF8.self))
        }
        return run.output
    }

    /// A private key on a curve, in unencrypted PKCS#8 PEM.
    static func key(curve: String = "prime256v1") throws -> Data {
        try run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)")
    }
}
