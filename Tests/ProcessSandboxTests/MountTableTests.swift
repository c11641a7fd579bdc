import Testing

@testable import ProcessSandbox

@Suite("Mount table")
struct MountTableTests {
    /// Lines as in proc_pid_mountinfo(5).
    private let table = MountTable(
        #"""
        21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        22 21 8:2 / /var rw - ext4 /dev/sda2 rw
        23 21 8:2 /lib/shop /srv/shop rw - ext4 /dev/sda2 rw
        24 21 8:2 /lib/shop/keys/inner /mnt/with\040space rw - ext4 /dev/sda2 rw
        25 21 8:2 /cache /mnt/cache rw - ext4 /dev/sda2 rw
        26 21 8:1 /var/lib /mnt/below rw - ext4 /dev/sda1 rw
        27 21 0:4 net:[4026531840] /run/netns/one rw - nsfs nsfs rw
        """#)

    @Test("a path in another mount of the same file system is an alias")
    func bindMount() {
        #expect(table.aliases(of: "/var/lib/shop/audit.sqlite") == ["/srv/shop/audit.sqlite"])
        #expect(table.aliases(of: "/srv/shop/audit.sqlite") == ["/var/lib/shop/audit.sqlite"])
    }

    @Test("a mount of a directory below a path is an alias of a part of it")
    func partialMount() {
        #expect(table.aliases(of: "/var/lib/shop/keys") == ["/srv/shop/keys", "/mnt/with space"])
    }

    @Test("a path that no other mount shows has no alias", arguments: ["/etc/shop/pin", "/home", "/var/run"])
    func noAlias(_ path: String) {
        #expect(table.aliases(of: path) == [])
    }

    @Test("lines that are no mounts of directories are left out", arguments: ["", "\n", "1 2 3", "21 1 8:1 x / rw"])
    func otherLines(_ text: String) {
        #expect(MountTable(text).aliases(of: "/etc") == [])
    }
}
