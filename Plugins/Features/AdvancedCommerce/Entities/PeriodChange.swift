extension Shape {
    static let periodChange = Shape(
        .required("effective", .oneOf(Vocabulary.effective)),
        .required("period", .oneOf(Vocabulary.periods))
    )
}
