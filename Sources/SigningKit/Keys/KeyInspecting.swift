/// What a backend offers besides where its keys can be looked at: for whoever has to show how they are kept.
public protocol KeyInspecting: KeyBackend {
    /// Everything that can be seen of a key without its private part, also of one that `key` refuses as unfit. It tries
    /// to take the private part away, too, and wipes what it gets.
    ///
    /// - Throws: `unavailable` and `closed` as `key`, and `notFound` where nothing answers to the selector.
    func inspect(_ selector: KeySelector) async throws(KeyError) -> KeyInspection
}
