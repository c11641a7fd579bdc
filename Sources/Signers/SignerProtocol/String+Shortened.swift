extension String {
    /// The first `limit` bytes and an ellipsis, if the text is longer: a module may choose it.
    public func shortened(to limit: Int) -> String {
        utf8.count > limit ? String(decoding: utf8.prefix(limit), as: UTF8.self) + "…" : self
    }
}
