/// What is wrong with the result of a reader, as a sentence.
struct FuzzFault: Error, CustomStringConvertible {
    let sentence: String

    var description: String { sentence }
}
