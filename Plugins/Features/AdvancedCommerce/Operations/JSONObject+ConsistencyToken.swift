import StrictJSON

extension JSONObject {
    /// - Parameter sentence: why this request cannot carry one.
    func refuseConsistencyToken(_ sentence: String) throws(JSONReadError) {
        try required("requestInfo") { info throws(JSONReadError) in
            if try info.anyObject().given("consistencyToken") != nil {
                throw JSONReadError(.invalid(sentence), at: "consistencyToken")
            }
        }
    }
}
