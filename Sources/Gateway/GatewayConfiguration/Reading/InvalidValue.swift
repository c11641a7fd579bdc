/// An invalid value. The text continues a sentence after the value's origin, with the remedy.
struct InvalidValue: Error {
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }
}
