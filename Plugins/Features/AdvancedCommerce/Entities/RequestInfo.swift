extension Shape {
    /// `RequestInfo`. Each operation decides whether it allows a `consistencyToken`.
    static let requestInfo = Shape(
        .required("requestReferenceId", .uuid),
        .optional("appAccountToken", .uuid),
        .optional("consistencyToken", .identifier())
    )
}
