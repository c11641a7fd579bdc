import Glibc

/// The machine for which a library was built (the first bytes of `Elf64_Ehdr`).
struct ELFHeader: Equatable {
    /// `EI_CLASS`: 1 for 32 bits, 2 for 64.
    private let bits: UInt8
    /// `e_machine`.
    private let machine: UInt16

    /// Nil if the file is not an ELF file or cannot be read.
    init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 20)
        guard read(descriptor, &bytes, bytes.count) == bytes.count, bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            return nil
        }
        bits = bytes[4]
        machine = UInt16(bytes[18]) | UInt16(bytes[19]) << 8
    }

    var name: String {
        switch (machine, bits) {
        case (0x3E, 2): "x86-64"
        case (0x03, _): "x86 with 32 bits"
        case (0xB7, _): "aarch64"
        case (0x28, _): "arm with 32 bits"
        case (0xF3, _): "riscv"
        case (0x15, _): "ppc64"
        case (0x16, _): "s390x"
        default: "another machine (e_machine \(machine))"
        }
    }
}
