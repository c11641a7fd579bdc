/// The values of Apple's enumerations (the types of the same names in Apple's reference).
enum Vocabulary {
    /// The length of a subscription's period (ISO 8601).
    static let periods = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]
    /// The length of an offer's period (ISO 8601).
    static let offerPeriods = ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y"]
    static let offerReasons = ["ACQUISITION", "WIN_BACK", "RETENTION"]
    static let changeReasons = ["UPGRADE", "DOWNGRADE", "APPLY_OFFER"]
    static let effective = [immediately, nextBillCycle]

    static let immediately = "IMMEDIATELY"
    static let nextBillCycle = "NEXT_BILL_CYCLE"
}
