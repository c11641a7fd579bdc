import StrictJSON

extension Shape {
    /// What a new subscription is called.
    static let descriptors = Shape(
        .required("displayName", .displayName),
        .required("description", .description)
    )

    /// What a subscription is called from now on, or from its next bill.
    static let changedDescriptors = Shape(
        .required("effective", .oneOf(Vocabulary.effective)),
        .optional("displayName", .displayName),
        .optional("description", .description),
        together: { descriptors throws(JSONReadError) in
            // Apple's AtLeastOneOfDisplayNameOrDescription
            if descriptors.given("displayName") == nil, descriptors.given("description") == nil {
                throw JSONReadError(.invalid("must have a displayName, a description or both"))
            }
        }
    )
}
