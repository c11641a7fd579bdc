#!/usr/bin/env python3
"""Prints the software bill of materials of the program, as CycloneDX 1.6 in JSON: one component for each Swift package
that the build resolved, with what it carries of other projects; for Swift's own libraries; and for each Debian library that the
program loads."""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import uuid

import vendored

APACHE = "Apache-2.0"
SWIFT = "Apache-2.0 WITH Swift-exception"


def licence(text):
    """The SPDX expression of a licence's text, or None."""
    if "Apache License" in text and "Version 2.0" in text:
        return SWIFT if "Runtime Library Exception" in text else APACHE
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    return None


# Resolved for Apple's platforms, or for an unused product.
UNUSED = {"swift-http-structured-headers", "swift-nio-transport-services"}

# The copyright files of these packages are not machine-readable (DEP 5).
DEBIAN = {
    "libc6": "LGPL-2.1-or-later AND GPL-2.0-or-later",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
}


def swift_components(resolved, checkouts):
    for pin in json.loads(resolved.read_text())["pins"]:
        location = pin["location"].removesuffix(".git")
        name = location.rpartition("/")[2]
        texts = sorted((checkouts / name).glob("LICENSE*"))
        found = licence(texts[0].read_text()) if texts else None
        if found is None:
            sys.exit(f"error: {checkouts / name} has no licence file that is known here")
        version = pin["state"]["version"]
        yield component(
            name,
            version,
            f"pkg:swift/{location.partition('://')[2]}@{version}",
            {"expression": found},
            scope="excluded" if name in UNUSED else None,
            components=list(carried(checkouts / name)),
            externalReferences=[{"type": "vcs", "url": pin["location"], "comment": pin["state"]["revision"]}],
        )


def carried(package):
    """What a package has of other projects."""
    for target in vendored.targets(package):
        place = (package.name, target.name)
        if place in vendored.OWN:
            continue
        if place not in vendored.VENDORED:
            sys.exit(f"error: {target} has C that packaging/vendored.py does not know: say there whose it is")
        name, read, purl, cpe, licence = vendored.VENDORED[place]
        version = read(target)
        if version is None:
            sys.exit(f"error: {target} does not say which version of {name} it is")
        yield {
            **component(name, version, f"{purl}@{version}", licence, cpe=cpe and f"{cpe}:{version}:*:*:*:*:*:*:*"),
            # Two packages may contain the same revision.
            "bom-ref": f"{package.name}/{target.name}",
        }


def unicode_component(swift):
    """ICU, which Foundation carries."""
    header = pathlib.Path(swift).resolve().parents[1] / "lib" / "swift" / "_foundation_unicode" / "uvernum.h"
    version = re.search(r'define U_ICU_VERSION "([^"]+)"', header.read_text())[1]
    return component(
        "ICU",
        version,
        f"pkg:github/unicode-org/icu@{version}",
        {"expression": "Unicode-3.0"},
        cpe=f"cpe:2.3:a:unicode:international_components_for_unicode:{version}:*:*:*:*:*:*:*",
    )


def runtime_component():
    printed = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"Swift version (\S+)", printed)[1]
    return component(
        "swift",
        version,
        f"pkg:generic/swift@{version}",
        {"expression": SWIFT},
        description="Swift's standard library, Dispatch and Foundation with ICU, linked in",
        components=[unicode_component(shutil.which("swift"))],
    )


def debian_components(dependencies):
    """`dependencies`: as in a control file, such as "libc6 (>= 2.36), libssl3 (>= 3.0.0)"."""
    names = sorted({re.split(r"[ (|]", each.strip())[0] for each in dependencies.split(",")})
    for name in names:
        version, architecture = query(name, "${Version}\t${Architecture}").split("\t")
        yield component(
            name,
            version,
            f"pkg:deb/debian/{name}@{version.replace(':', '%3A').replace('+', '%2B')}?arch={architecture}&distro=debian-12",
            *debian_licences(name),
            description="loaded from the system; the version is that of the build",
        )


def query(package, form):
    return subprocess.run(["dpkg-query", "-W", "-f", form, package], capture_output=True, text=True, check=True).stdout


def debian_licences(package):
    """The short names in the package's copyright file (DEP 5), or a reference to it."""
    if package in DEBIAN:
        return [{"expression": DEBIAN[package]}]
    file = pathlib.Path(f"/usr/share/doc/{package}/copyright")
    text = file.read_text(errors="replace") if file.exists() else ""
    if not text.startswith("Format:"):
        return [{"license": {"name": f"see {file}"}}]
    names = sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE)))
    return [{"license": {"name": name}} for name in names]


def component(name, version, purl, *licences, **more):
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": list(licences),
        "purl": purl,
        **{key: value for key, value in more.items() if value},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the program, as it is shipped")
    parser.add_argument("--version", required=True)
    parser.add_argument("--resolved", type=pathlib.Path, required=True, help="Package.resolved")
    parser.add_argument("--checkouts", type=pathlib.Path, required=True, help="the packages' sources")
    parser.add_argument("--libraries", required=True, help="the Debian packages that the program depends on")
    parser.add_argument("--epoch", type=int, required=True, help="the time of the bill, in seconds since 1970")
    given = parser.parse_args()

    components = [*swift_components(given.resolved, given.checkouts), runtime_component(), *debian_components(given.libraries)]
    digest = hashlib.sha256(given.program.read_bytes()).hexdigest()
    root = f"pkg:generic/privyseal@{given.version}"
    moment = datetime.datetime.fromtimestamp(given.epoch, datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same program gives the same bill of materials.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root + digest)}",
        "version": 1,
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "privyseal",
                "version": given.version,
                "purl": root,
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": [each["bom-ref"] for each in components if each.get("scope") != "excluded"]},
            *(
                {"ref": each["bom-ref"], "dependsOn": [part["bom-ref"] for part in each["components"]]}
                for each in components
                if "components" in each
            ),
        ],
    }
    json.dump(bill, sys.stdout, indent=2, ensure_ascii=False)
    print()


main()
