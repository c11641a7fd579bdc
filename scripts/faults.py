"""The driver of the fault matrix; scripts/faults builds the tests and runs it.

Each function runs in a process of its own: the suite FaultMatrixTests writes a line before and after each case. A
process that ends or stops within a case is started again behind it.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

FUNCTIONS = """
    C_Initialize C_Finalize C_GetInfo C_GetSlotList C_GetSlotInfo C_GetTokenInfo C_GetMechanismList C_GetMechanismInfo
    C_OpenSession C_CloseSession C_GetSessionInfo C_Login C_CreateObject C_DestroyObject C_GetAttributeValue
    C_FindObjectsInit C_FindObjects C_FindObjectsFinal C_EncryptInit C_Encrypt C_SignInit C_Sign C_GenerateKey
    C_GenerateKeyPair C_WrapKey C_UnwrapKey
""".split()
CALLS = ["1", "2", "50"]
# Seconds without a new line after which a case counts as hung. A case waits up to 55 s for its recovery.
PATIENCE = 120
# The number of processes that may end before they begin a case.
FAILED_STARTS = 3


class Run:
    """The cases of one function."""

    def __init__(self, program, function, directory):
        self.program, self.function = program, function
        self.lines = directory / f"{function}.cases"
        self.log = directory / f"{function}.log"
        self.lines.touch()

    def verdicts(self):
        """By call and code, in the order of the cases."""
        failed_starts = 0
        while failed_starts < FAILED_STARTS:
            before = len(self.begun())
            status = self.process(before)
            unfinished = [case for case in self.begun() if case not in self.ended()]
            if status == 0 and not unfinished:
                return self.ended()
            for case in unfinished:
                what = "hang" if status is None else f"crash: the process ended with status {status}"
                with self.lines.open("a") as file:
                    file.write("\t".join(["end", self.function, *case, what]) + "\n")
            failed_starts = failed_starts + 1 if len(self.begun()) == before else 0
        tail = self.log.read_text(errors="replace")[-2000:]
        raise SystemExit(f"The tests of {self.function} do not start:\n{tail}")

    def process(self, first):
        """Runs the cases from `first` on; the status of the process, or None where it had to be killed."""
        environment = os.environ | {
            "FAULT_MATRIX_OUTPUT": str(self.lines),
            "FAULT_MATRIX_FUNCTION": self.function,
            "FAULT_MATRIX_FROM": str(first),
        }
        command = [self.program, "--testing-library", "swift-testing", "--filter", "FaultMatrixTests"]
        with self.log.open("a") as log:
            with subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT) as process:
                size, changed = 0, time.monotonic()
                while True:
                    try:
                        return process.wait(timeout=1)
                    except subprocess.TimeoutExpired:
                        pass
                    if self.lines.stat().st_size != size:
                        size, changed = self.lines.stat().st_size, time.monotonic()
                    elif time.monotonic() > changed + PATIENCE:
                        process.kill()
                        process.wait()
                        return None

    def rows(self, kind):
        rows = [line.split("\t") for line in self.lines.read_text().splitlines()]
        return [row for row in rows if row[0] == kind]

    def begun(self):
        return [(row[2], row[3]) for row in self.rows("begin")]

    def ended(self):
        return {(row[2], row[3]): row[4] for row in self.rows("end")}


def kind(verdict):
    return verdict.split(":")[0] if not verdict.startswith("recovered") else "recovered"


def cell(verdict):
    return verdict.removeprefix("recovered in ") if kind(verdict) == "recovered" else kind(verdict)


def show(function, verdicts):
    print(f"\n{function:40} " + " ".join(f"{'call ' + call:>18}" for call in CALLS))
    for code in dict.fromkeys(code for _, code in verdicts):
        cells = (cell(verdicts.get((call, code), "not run")) for call in CALLS)
        print(f"  {code:38} " + " ".join(f"{text:>18}" for text in cells))
    for (call, code), verdict in verdicts.items():
        if kind(verdict) not in ("recovered", "needs a person"):
            print(f"  ! call {call}, {code}: {verdict}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(prog="scripts/faults")
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="such as C_Sign; all of them without")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="functions at the same time")
    arguments = parser.parse_intermixed_args()
    unknown = set(arguments.functions) - set(FUNCTIONS)
    if unknown:
        parser.error(f"the gateway does not call {' '.join(sorted(unknown))}; it calls {' '.join(FUNCTIONS)}")
    counts = collections.Counter()
    slowest = 0
    with (
        tempfile.TemporaryDirectory() as directory,
        concurrent.futures.ThreadPoolExecutor(max(arguments.jobs, 1)) as pool,
    ):
        runs = [Run(arguments.program, name, pathlib.Path(directory)) for name in arguments.functions or FUNCTIONS]
        for run, verdicts in zip(runs, pool.map(Run.verdicts, runs)):
            show(run.function, verdicts)
            counts.update(map(kind, verdicts.values()))
            times = [int(verdict.split()[2]) for verdict in verdicts.values() if kind(verdict) == "recovered"]
            slowest = max([slowest, *times])
    recovered, person = counts.pop("recovered", 0), counts.pop("needs a person", 0)
    wrong = counts.pop("wrong answer", 0)
    others = "".join(f", {count} {name}" for name, count in sorted(counts.items()))
    print(
        f"\n{recovered + person + wrong + counts.total()} cases: {recovered} recovered (the slowest in {slowest} ms), "
        f"{person} need a person, {wrong} wrong answers{others}"
    )
    return 1 if wrong or counts else 0


if __name__ == "__main__":
    sys.exit(main())
