import Foundation
import Glibc

// Applies a sandbox and makes attempts, for tests.
//
//   SandboxProbe POLICY ATTEMPT…
//
// POLICY is a SandboxPolicy in JSON, or `none`. The program starts itself as a child process, which applies the policy
// and makes the attempts; the child's parent is what the attempts name `the parent` (SandboxAttempts.h). It prints one
// line of JSON for the sandbox, and one for each attempt. With SANDBOX_PROBE_THREAD in the environment, the child has a
// second thread before it applies the policy.
//
// Further attempts are `token:MODULE:LABEL:PIN-FILE`, which signs, `system-call:NAME`, as `call`, and `value:NAME`, which
// prints a ProcessValue.
let arguments = Array(CommandLine.arguments.dropFirst())
if let parent = ProcessInfo.processInfo.environment[ProbeParent.variable].flatMap({ Int32($0) }) {
    try ProbeChild(parent: parent).run(policy: arguments.first ?? "none", Array(arguments.dropFirst()))
} else {
    exit(ProbeParent.run(arguments))
}
