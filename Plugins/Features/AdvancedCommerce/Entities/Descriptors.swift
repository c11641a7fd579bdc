import StrictJSON

extension Shape {
    static let descriptors = Shape(
        .required("displayName", .displayName),
        .required("description", .description)
    )

    /// A new name or description of a subscription, valid at once or from its next bill.
    static let changedDescriptors = Shape(
        [
            .required("effective", .oneOf(Vocabulary.effective)),
            .optional("displayName", .displayName),
            .optional("description", .description),
        ],
        together: { descriptors throws(JSONReadError) in
            // Apple's AtLeastOneOfDisplayNameOrDescription
            if descriptors.given("displayName") == nil, descriptors.given("description") == nil {
                throw JSONReadError(.invalid("must have a displayName, a description or both"))
            }
        }
    )
}
