import ArgumentParser
import AuditKit

/// Errors of the audit commands with a status or a sentence of their own. `PrivySeal.main` prints all others.
enum AuditAttempt {
    /// - Throws: `ExitCode` 64 (the command was called wrongly), after printing the error.
    static func parse<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw StandardError.failure("\(error)", status: ExitCode.validationFailure.rawValue)
        }
    }

    /// - Throws: `ExitCode` 1 if entries are missing, after printing which.
    static func refuse(_ missing: MissingEntries?, _ reader: any AuditReader) throws {
        guard let missing else { return }
        let begin = try reader.firstIndex()
        throw StandardError.failure(missing.sentence(beginningAt: begin))
    }
}
