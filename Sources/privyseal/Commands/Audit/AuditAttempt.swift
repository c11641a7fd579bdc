import ArgumentParser
import AuditKit

/// What a command tries, and says when it fails.
enum AuditAttempt {
    /// - Throws: the status 1, with the error's sentence already said.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw StandardError.failure("\(error)")
        }
    }

    /// What was asked for in the wrong way: the status is 64.
    static func parse<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw StandardError.failure("\(error)", status: ExitCode.validationFailure.rawValue)
        }
    }

    /// Says that entries were left out which should have been there.
    ///
    /// - Throws: the status 1, when there are any.
    static func refuse(_ missing: MissingEntries?, _ reader: any AuditReader) throws {
        guard let missing else { return }
        let begin = try run { () throws(AuditStoreError) in try reader.firstIndex() }
        throw StandardError.failure(missing.sentence(beginningAt: begin))
    }
}
