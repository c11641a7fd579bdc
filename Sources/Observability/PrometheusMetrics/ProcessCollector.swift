import CoreMetrics
import Glibc
import Synchronization

/// Metrics of the process itself, from the kernel. Values that the kernel does not supply are left out.
public enum ProcessCollector {
    /// Updates the metrics at each scrape of the registry.
    public static func install(in registry: PrometheusRegistry) {
        // The program installs this first, milliseconds after its start.
        registry.makeMeter(label: "process_start_time_seconds", dimensions: []).set(seconds(of: CLOCK_REALTIME))
        let processor = registry.makeFloatingPointCounter(label: "process_cpu_seconds_total", dimensions: [])
        let last = Mutex(0.0)
        registry.onScrape {
            if let pages = residentPages {
                registry.makeMeter(label: "process_resident_memory_bytes", dimensions: []).set(pages * pageBytes)
            }
            if let count = openDescriptors {
                registry.makeMeter(label: "process_open_fds", dimensions: []).set(count)
            }
            let total = seconds(of: CLOCK_PROCESS_CPUTIME_ID)
            last.withLock { last in
                processor.increment(by: total - last)
                last = max(last, total)
            }
        }
    }

    private static let pageBytes = Int64(sysconf(Int32(_SC_PAGESIZE)))

    private static var residentPages: Int64? {
        read("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
    }

    private static var openDescriptors: Int64? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count: Int64 = 0
        while let entry = readdir(directory) {
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        // The count includes the directory itself.
        return count - 1
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var now = timespec()
        clock_gettime(clock, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    /// Reads a small /proc file with one system call.
    private static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(Glibc.read(file, buffer.baseAddress, buffer.count), 0)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
