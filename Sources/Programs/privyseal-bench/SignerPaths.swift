import ArgumentParser
import Crypto
import Foundation
import SigningKit
import StrictJSON

/// Measures signer processes from a digest to a verified signature, and verification alone on all cores.
struct SignerPaths: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signers",
        abstract:
            "Prints signatures per second of a token's signer processes, each verified, and verifications per second."
    )

    @OptionGroup var key: KeyOptions

    @OptionGroup var signer: SignerKeyOptions

    @Option(help: "The sessions of each process.")
    var sessions = 1

    @Option(help: "The number of callers that sign at the same time.")
    var callers = 32

    @Option(help: "The number of signatures.")
    var count = 30_000

    func run() async throws {
        guard let (backend, found) = try await signer.open(key, sessions: sessions) else {
            throw ValidationError("Give the socket with --signer.")
        }
        // The first round warms up.
        _ = try await signatures(found, count / 10)
        let signed = try await Stopwatch.rate { try await signatures(found, count) }
        let digest = SHA256.hash(data: Array("benchmark".utf8))
        let signature = try await found.sign(digest)
        let verified = try await Stopwatch.rate { try await verifications(of: signature, digest, by: found.publicKey) }
        await backend.close()
        print(JSONText.string(["signed": Int(signed), "verified": Int(verified)]))
    }

    private func signatures(_ key: any SigningKey, _ count: Int) async throws -> Int {
        let share = max(1, count / callers)
        try await withThrowingTaskGroup { group in
            for caller in 0..<callers {
                group.addTask {
                    for number in 0..<share {
                        let digest = SHA256.hash(data: Array("\(caller) \(number)".utf8))
                        let signature = try await key.sign(digest)
                        guard key.publicKey.verifies(signature, of: digest) else {
                            throw ValidationError("a signature does not verify")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return callers * share
    }

    private func verifications(
        of signature: P256Signature, _ digest: SHA256Digest, by key: P256.Signing.PublicKey
    ) async throws -> Int {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let share = 20_000
        try await withThrowingTaskGroup { group in
            for _ in 0..<cores {
                group.addTask {
                    for _ in 0..<share where !key.verifies(signature, of: digest) {
                        throw ValidationError("a signature does not verify")
                    }
                }
            }
            try await group.waitForAll()
        }
        return cores * share
    }
}
