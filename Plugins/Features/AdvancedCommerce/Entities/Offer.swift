extension Shape {
    /// A discount: `periodCount` periods at `price`.
    static let offer = Shape(
        .required("period", .oneOf(Vocabulary.offerPeriods)),
        .required("periodCount", .integer(in: 1...12)),
        .required("price", .amount),
        .required("reason", .oneOf(Vocabulary.offerReasons))
    )
}
