import Foundation

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
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = Pipe(), error = Pipe(), standardInput = Pipe()
        process.standardOutput = output
        process.standardError = error
        process.standardInput = standardInput
        try process.run()
        if let input { try standardInput.fileHandleForWriting.write(contentsOf: input) }
        try standardInput.fileHandleForWriting.close()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaint = try error.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(arguments: arguments, message: String(decoding: complaint, as: UTF8.self))
        }
        return printed
    }

    /// A private key on a curve, in unencrypted PKCS#8 PEM.
    static func key(curve: String = "prime256v1") throws -> Data {
        try run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)")
    }
}
