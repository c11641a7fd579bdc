import Glibc

/// libFuzzer calls this function with each input. The environment variable `FuzzTarget.variable` names the reader.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ address: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: address, count: count))
    // libFuzzer keeps an input only if the process crashes.
    do throws(FuzzFault) { try FuzzTarget.chosen.read(bytes) } catch { fatalError(error.sentence) }
    return 0
}

extension FuzzTarget {
    static let variable = "PRIVYSEAL_FUZZ_TARGET"

    static let chosen: FuzzTarget = {
        guard let name = getenv(variable).map({ String(cString: $0) }), let target = FuzzTarget(rawValue: name) else {
            fatalError("\(variable) must be one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()
}
