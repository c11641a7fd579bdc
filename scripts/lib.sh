# Functions for the other scripts; sourced, not run.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the other scripts use the variables

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# Installs the named Debian packages that are missing.
need_packages() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    local run=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "these Debian packages are missing; install them as root: ${missing[*]}"
        run=(sudo)
    fi
    say "Installing ${missing[*]} …"
    "${run[@]}" apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

need_swift() {
    command -v swift >/dev/null || die "Swift 6.2 or later is needed: https://www.swift.org/install/linux/"
}

# A Python environment with the imports of Tests/EndToEnd, and the source of Apple's library, which contains its tests.
venv=$root/.build/python
need_python() {
    local apples
    apples=$(grep ^app-store-server-library= "$root/Tests/EndToEnd/requirements.txt")
    if cmp --silent "$root/Tests/EndToEnd/requirements.txt" "$venv/requirements.txt"; then
        [ -d "$venv/apples-source/$apples" ] || need_apples_source "$apples"
        return
    fi
    command -v python3 >/dev/null || need_packages python3 python3-venv
    python3 -c 'import ensurepip' 2>/dev/null || need_packages python3-venv
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$root/Tests/EndToEnd/requirements.txt"
    need_apples_source "$apples"
    cp "$root/Tests/EndToEnd/requirements.txt" "$venv/"
}

need_apples_source() {
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        --dest "$venv/apples-source/$1.new" "$1"
    mv "$venv/apples-source/$1.new" "$venv/apples-source/$1"
}

# The packages that PrivySeal needs to build and run.
platform_packages=(libp11-kit-dev softhsm2 libssl-dev libsqlite3-dev libpq-dev libseccomp-dev pkg-config openssl
    opensc)

# Further packages for Tests/EndToEnd: a software TPM 2 with its resource manager, p11-kit's server, and NSS.
token_packages=(swtpm tpm2-abrmd libtss2-tcti-swtpm0 libtss2-tcti-tabrmd0 libtpm2-pkcs11-1 libtpm2-pkcs11-tools tpm2-tools
    dbus p11-kit p11-kit-modules libnss3 libnss3-tools)

# A PostgreSQL server, and a proxy that can be stopped.
database_packages=(postgresql socat)

# The compilers and interpreters of the clients in clients/, whose tests are in Tests/EndToEnd/clients.
client_packages=(nodejs golang-go php-cli default-jdk-headless)
