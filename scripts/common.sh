# shellcheck shell=bash
# What scripts/gpulab and scripts/test share. Read by them, not run.
# shellcheck disable=SC2034 # they use these variables

root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)

# Where cargo builds. Absolute, because cargo is started in the repository and the user may be elsewhere.
target=${CARGO_TARGET_DIR:-$root/target}
[[ $target == /* ]] || target=$PWD/$target
export CARGO_TARGET_DIR=$target

# Output is for results: all that these scripts say goes to standard error.
say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

has() { command -v "$1" >/dev/null; }

# ldconfig is in a folder that only root has in PATH.
known_libraries() { PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null || true; }

has_loader() {
    [[ -z ${GPULAB_OPENCL_LIB:-} && $(known_libraries) != *libOpenCL.so.1* ]] || return 0
    local folders folder
    IFS=: read -ra folders <<<"${LD_LIBRARY_PATH:-}"
    for folder in "${folders[@]}"; do
        [[ ! -e $folder/libOpenCL.so.1 ]] || return 0
    done
    return 1
}

has_driver() {
    [[ -n ${OCL_ICD_FILENAMES:-}${OCL_ICD_VENDORS:-}${OPENCL_VENDOR_PATH:-} ]] ||
        compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null
}

# Containers often have NVIDIA's driver without its registration: name it to both kinds of loader.
adopt_nvidia() {
    if ! has_driver && [[ $(known_libraries) == *libnvidia-opencl.so.1* ]]; then
        export OCL_ICD_VENDORS=libnvidia-opencl.so.1 OCL_ICD_FILENAMES=libnvidia-opencl.so.1
    fi
}

# What is missing, in words, and the packages of each distribution that bring it.
missing=() debian=() fedora=() arch=()
need() {
    missing+=("$1") fedora+=("$3") arch+=("$4")
    read -ra packages <<<"$2"
    debian+=("${packages[@]}")
}

need_compiler() { has cc || need "a C compiler (cargo links with it)" "gcc libc6-dev" gcc gcc; }
need_loader() { has_loader || need "OpenCL's loader" ocl-icd-libopencl1 OpenCL-ICD-Loader ocl-icd; }
need_driver() { has_driver || need "an OpenCL driver" pocl-opencl-icd pocl pocl; }

# What gpulab count needs: a simulator, what to build its plugin from, and a compiler for that.
need_simulator() {
    has oclgrind || need "Oclgrind (a simulator; it finds races in kernels, and gpulab count runs them in it)" oclgrind oclgrind oclgrind
    has_header oclgrind/Plugin.h || need "Oclgrind's headers (for gpulab count)" liboclgrind-dev oclgrind-devel oclgrind
    has_header CL/cl.h || need "OpenCL's headers (for gpulab count)" opencl-headers opencl-headers opencl-headers
    has_cxx || need "a C++ compiler (for gpulab count)" g++ gcc-c++ gcc
}
can_count() { has oclgrind && has_header oclgrind/Plugin.h && has_header CL/cl.h && has_cxx; }
has_cxx() {
    local compiler=${CXX:-c++}
    has "${compiler%% *}" || { [[ -z ${CXX:-} ]] && { has g++ || has clang++; }; }
}
has_header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }

say_missing() {
    local item
    for item in "${missing[@]}"; do say "missing: $item"; done
    say "install, as root:"
    say "  Debian, Ubuntu   apt-get install ${debian[*]}"
    say "  Fedora           dnf install ${fedora[*]}"
    say "  Arch             pacman -S ${arch[*]}"
}

as_root() {
    if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

can_install() { has apt-get && as_root true 2>/dev/null; }

refresh_packages() {
    # One broken source of packages must not stop an installation from the others.
    as_root apt-get -qq update >/dev/null || say "apt-get update failed; going on with the lists at hand"
}

install_packages() {
    say "installing $* (takes a while)"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 install "$@" >/dev/null
}

# Ends the script unless there is a cargo that can build this.
require_cargo() {
    # A fresh rustup is in PATH only from the next login on.
    has cargo || PATH=$PATH:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin
    if ! has cargo; then
        say "Rust is missing. Install it with rustup, see https://rustup.rs (distributions' Rust is often too old)"
        exit 1
    fi
    local found needed
    found=$(cargo --version | cut -d ' ' -f 2)
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    if [[ $(printf '%s\n' "$needed" "${found%%-*}" | sort -V | head -n 1) != "$needed" ]]; then
        say "cargo is $found, but gpulab needs $needed or newer: rustup update stable (rustup: https://rustup.rs)"
        exit 1
    fi
    # Nothing is compiled a second time for Clippy. What it finds are warnings, so that the tests run all the same.
    linting=()
    if clippy-driver --version >/dev/null 2>&1; then
        linting=(env RUSTC_WORKSPACE_WRAPPER="$root/scripts/compile" CLIPPY_ARGS=--cap-lints__CLIPPY_HACKERY__warn)
    fi
}
