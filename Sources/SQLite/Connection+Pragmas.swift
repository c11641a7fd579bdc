extension Connection {
    /// What a pragma says: its first row's first column. Nil when it gives no row.
    public func pragma(_ name: String) throws(SQLiteError) -> String? {
        try first("PRAGMA \(name)") { $0.text(0) }
    }

    /// As `pragma(_:)`, of one that is a number.
    public func number(_ name: String) throws(SQLiteError) -> Int? {
        try first("PRAGMA \(name)") { $0.integer(0) }
    }

    /// The first row of what a query gives; nil when it gives none.
    public func first<Value>(_ sql: String, _ read: (Statement) -> Value) throws(SQLiteError) -> Value? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? read(statement) : nil
    }

    /// All rows of what a query gives.
    public func all<Value>(_ sql: String, _ read: (Statement) -> Value) throws(SQLiteError) -> [Value] {
        let statement = try Statement(sql, on: self)
        var values: [Value] = []
        while try statement.step() { values.append(read(statement)) }
        return values
    }
}
