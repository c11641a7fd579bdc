extension Connection {
    /// The first column of the pragma's first row; nil without a row.
    public func pragma(_ name: String) throws(SQLiteError) -> String? {
        try first("PRAGMA \(name)") { $0.text(0) }
    }

    /// As `pragma(_:)`, for a number.
    public func number(_ name: String) throws(SQLiteError) -> Int? {
        try first("PRAGMA \(name)") { $0.integer(0) }
    }

    /// Reads the first row of a query; nil without a row.
    public func first<Value>(_ sql: String, _ read: (Statement) -> Value) throws(SQLiteError) -> Value? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? read(statement) : nil
    }

    /// Reads all rows of a query.
    public func all<Value>(_ sql: String, _ read: (Statement) -> Value) throws(SQLiteError) -> [Value] {
        let statement = try Statement(sql, on: self)
        var values: [Value] = []
        while try statement.step() { values.append(read(statement)) }
        return values
    }
}
