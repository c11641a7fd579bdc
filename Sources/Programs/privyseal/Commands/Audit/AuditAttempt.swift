import ArgumentParser
import AuditKit

/// Runs a step of a command and prints its error.
enum AuditAttempt {
    /// - Throws: `ExitCode` 1, after printing the error.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw StandardError.failure("\(error)")
        }
    }

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
        let begin = try run { () throws(AuditStoreError) in try reader.firstIndex() }
        throw StandardError.failure(missing.sentence(beginningAt: begin))
    }
}
