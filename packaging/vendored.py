"""What Swift packages carry of other projects in C, which a scanner would look for under its own name."""

import re

ZLIB = {"expression": "Zlib"}


def found(pattern, file):
    """Reads a version out of a file of the target."""

    def read(target):
        match = re.search(pattern, (target / file).read_text())
        return ".".join(match.groups()) if match else None

    return read


def boringssl(target):
    return found(r"at revision ([0-9a-f]{40})", "hash.txt")(target)


# By package and target: name, version, package URL without the version, CPE without the version, licence.
VENDORED = {
    # The files are under Apache-2.0, and those of fiat-crypto under MIT. The NOTICE of swift-nio-ssl still names the
    # licences of older revisions, ISC and OpenSSL.
    ("swift-nio-ssl", "CNIOBoringSSL"): (
        "BoringSSL", boringssl, "pkg:generic/boringssl", "cpe:2.3:a:google:boringssl", {"expression": "Apache-2.0 AND MIT"}
    ),
    ("swift-crypto", "CCryptoBoringSSL"): (
        "BoringSSL", boringssl, "pkg:generic/boringssl", "cpe:2.3:a:google:boringssl", {"expression": "Apache-2.0 AND MIT"}
    ),
    ("swift-crypto", "CXKCP"): (
        "XKCP", found(r"-g([0-9a-f]{7,})\)", "vendored-sources.txt"), "pkg:github/XKCP/XKCP", "cpe:2.3:a:extended_keccak_code_package_project:extended_keccak_code_package",
        {"expression": "CC0-1.0"},
    ),
    ("swift-nio", "CNIOLLHTTP"): (
        "llhttp",
        found(
            r"VERSION_MAJOR (\d+)\s+#define LLHTTP_VERSION_MINOR (\d+)\s+#define LLHTTP_VERSION_PATCH (\d+)",
            "include/c_nio_llhttp.h",
        ),
        "pkg:github/nodejs/llhttp", "cpe:2.3:a:llhttp:llhttp", {"expression": "MIT"},
    ),
    ("swift-nio", "CNIOSHA1"): (
        "sha1 of the WIDE project", found(r"sha1\.c,v (\S+)", "c_nio_sha1.c"), "pkg:generic/kame-sha1", None,
        {"expression": "BSD-3-Clause"},
    ),
    ("swift-nio-extras", "CNIOExtrasZlib"): (
        "zlib", found(r"^(\d+(?:\.\d+)+)", "vendored-zlib.version"), "pkg:generic/zlib", "cpe:2.3:a:zlib:zlib", ZLIB
    ),
    # Yams' change log names the revision of libyaml; its sources do not.
    ("Yams", "CYaml"): (
        "libyaml", lambda target: "acd6f6f", "pkg:github/yaml/libyaml", "cpe:2.3:a:pyyaml:libyaml", {"expression": "MIT"}
    ),
}

# C targets of the packages themselves, under the packages' own licences.
OWN = {
    ("async-http-client", "CAsyncHTTPClient"),
    ("swift-atomics", "_AtomicsShims"),
    ("swift-crypto", "CCryptoBoringSSLShims"),
    ("swift-crypto", "CXKCPShims"),
    ("swift-distributed-tracing", "_CWASI"),
    ("swift-nio", "CNIOAtomics"),
    ("swift-nio", "CNIODarwin"),
    ("swift-nio", "CNIOFreeBSD"),
    ("swift-nio", "CNIOLinux"),
    ("swift-nio", "CNIOOpenBSD"),
    ("swift-nio", "CNIOPosix"),
    ("swift-nio", "CNIOWASI"),
    ("swift-nio", "CNIOWindows"),
    ("swift-nio-ssl", "CNIOBoringSSLShims"),
    ("swift-numerics", "_NumericsShims"),
    ("swift-system", "CSystem"),
}

SUFFIXES = {".c", ".cc", ".cpp", ".S"}


def targets(package):
    """Folders of a package that have C in them."""
    for folder in sorted((package / "Sources").glob("*")):
        if any(file.suffix in SUFFIXES for file in folder.rglob("*")):
            yield folder
