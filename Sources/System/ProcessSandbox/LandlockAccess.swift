/// The access rights of Landlock's rules (`LANDLOCK_ACCESS_FS_*` of <linux/landlock.h>, landlock(7)).
struct LandlockAccess: OptionSet {
    let rawValue: UInt64

    static let execute = LandlockAccess(rawValue: 1 << 0)
    static let writeFile = LandlockAccess(rawValue: 1 << 1)
    static let readFile = LandlockAccess(rawValue: 1 << 2)
    static let readDirectory = LandlockAccess(rawValue: 1 << 3)
    static let makeCharacterDevice = LandlockAccess(rawValue: 1 << 6)
    static let makeBlockDevice = LandlockAccess(rawValue: 1 << 11)
    /// ABI 2: to rename or link a file into another directory.
    static let refer = LandlockAccess(rawValue: 1 << 13)
    /// ABI 3.
    static let truncate = LandlockAccess(rawValue: 1 << 14)
    /// ABI 5.
    static let ioctlDevice = LandlockAccess(rawValue: 1 << 15)
    /// ABI 9: connect(2) and sendmsg(2) to Unix sockets with a path.
    static let resolveUnix = LandlockAccess(rawValue: 1 << 16)

    /// All rights of an ABI version, without `resolveUnix`.
    static func all(version: Int32) -> LandlockAccess {
        var all = LandlockAccess(rawValue: 1 << 13 - 1)
        if version >= 2 { all.insert(.refer) }
        if version >= 3 { all.insert(.truncate) }
        if version >= 5 { all.insert(.ioctlDevice) }
        return all
    }

    /// The rights that a rule for something other than a directory may contain; others fail with `EINVAL`.
    static let ofFiles: LandlockAccess = [.execute, .writeFile, .readFile, .truncate, .ioctlDevice, .resolveUnix]
    static let reading: LandlockAccess = [.readFile, .readDirectory]
    static let devices: LandlockAccess = [.readFile, .readDirectory, .writeFile, .truncate, .ioctlDevice]
    /// The rights that no rule gives. dlopen(3) needs no right to execute, only execve(2) does.
    static let withheld: LandlockAccess = [.execute, .makeCharacterDevice, .makeBlockDevice]
}
