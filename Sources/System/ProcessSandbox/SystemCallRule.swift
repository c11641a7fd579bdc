import CProcessSandbox

/// A system call that the filter refuses, always or with certain arguments.
struct SystemCallRule {
    /// A condition on one argument. The filter sees 64 bits, of which the kernel may ignore the upper half.
    enum Condition {
        case equals(_ argument: UInt32, UInt32)
        /// A value that is not equal in all 64 bits is refused.
        case differs(_ argument: UInt32, UInt64)
        /// The argument has none of these bits.
        case lacks(_ argument: UInt32, UInt64)

        var comparison: scmp_arg_cmp {
            switch self {
            case .equals(let argument, let value):
                scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: 0xFFFF_FFFF, datum_b: UInt64(value))
            case .differs(let argument, let value):
                scmp_arg_cmp(arg: argument, op: SCMP_CMP_NE, datum_a: value, datum_b: 0)
            case .lacks(let argument, let bits):
                scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: bits, datum_b: 0)
            }
        }
    }

    let name: String
    /// The call is refused if all of them hold.
    var conditions: [Condition]

    init(_ name: String, _ conditions: Condition...) {
        self.name = name
        self.conditions = conditions
    }
}
