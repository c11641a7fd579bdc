/// A text that is not a value of its kind: a sentence that goes on after its place, with the cure.
struct InvalidValue: Error {
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }
}
