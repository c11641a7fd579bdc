extension String {
    /// At most its first bytes: a module may choose the text.
    public func shortened(to limit: Int) -> String {
        utf8.count > limit ? String(decoding: utf8.prefix(limit), as: UTF8.self) + "…" : self
    }
}
