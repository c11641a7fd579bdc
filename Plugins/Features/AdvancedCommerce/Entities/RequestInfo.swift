extension Shape {
    /// `RequestInfo`. Which operation may carry a `consistencyToken` is the operation's to say.
    static let requestInfo = Shape(
        .required("requestReferenceId", .uuid),
        .optional("appAccountToken", .uuid),
        .optional("consistencyToken", .identifier())
    )
}
