import HTTPTypes

extension HTTPFields {
    /// The same value as that of `self[name]`, for fields that nearly all requests have once. It needs no iterator that joins
    /// values, which takes 3 % of the time of a request.
    func value(_ name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }) else { return nil }
        return self[(index + 1)...].contains { $0.name == name } ? self[name] : self[index].value
    }
}
