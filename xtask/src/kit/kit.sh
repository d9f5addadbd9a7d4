#!/bin/sh
# Runs the conformance programs and the launch benchmark on a libamdhip64, and writes one file of what they print.
# The file holds versions, the name of the GPU, what each program printed and launch times: nothing of the user's.
set -u

usage() {
  cat <<'END'
usage: sh kit.sh [-l LIBRARY] [-o FILE] [-e TARGET] [-n] [FILTER...]
  -l LIBRARY  the libamdhip64.so to run on (ROCm's in /opt/rocm/lib unless told otherwise, else the linker's)
  -o FILE     where the results go (aqlipse-kit.tsv)
  -e TARGET   no GPU: run on the emulated one of this target, gfx90a or gfx942, by the kit's driver library
  -n          no benchmark
  FILTER      only programs whose names contain one of these
END
}

fail() { echo "kit.sh: $*" >&2; exit 1; }

here=$(cd "$(dirname "$0")" && pwd) || exit 1
library= output=aqlipse-kit.tsv emulate= bench=yes
while getopts l:o:e:nh option; do
  case $option in
    l) library=$OPTARG ;;
    o) output=$OPTARG ;;
    e) emulate=$OPTARG ;;
    n) bench=no ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))

if [ -z "$library" ]; then
  for candidate in "${ROCM_PATH:-/opt/rocm}/lib/libamdhip64.so" \
    "$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | sed -n 's/.*libamdhip64\.so.* => //p' | head -n 1)"; do
    [ -n "$candidate" ] && [ -f "$candidate" ] && library=$candidate && break
  done
fi
[ -n "$library" ] || fail "no libamdhip64.so found: say where it is with -l"
[ -f "$library" ] || fail "$library: no such file"
library=$(readlink -f "$library")
command -v timeout >/dev/null || fail "the command timeout (coreutils) is needed"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/lib" "$work/run"
# The programs were linked with the name of HIP 5; newer libraries keep the symbols of that time.
ln -s "$library" "$work/lib/libamdhip64.so.5"
path=$work/lib:$(dirname "$library")
[ -z "$emulate" ] || path=$work/lib:$here/thunk:$(dirname "$library")
[ -z "${LD_LIBRARY_PATH:-}" ] || path=$path:$LD_LIBRARY_PATH

# Runs a program on so many devices, in an environment that holds no more than is said here.
run() {
  devices=$1
  shift
  set -- PATH="$PATH" HOME="${HOME:-/}" LD_LIBRARY_PATH="$path" "$@"
  # A device that the user has chosen stays the only one.
  if [ -n "$emulate" ]; then
    set -- AQLIPSE_EMULATE="${devices}x$emulate" AQLIPSE_EMULATE_HARDWARE=no-svm ROC_ACTIVE_WAIT_TIMEOUT=0 "$@"
    [ -z "${AQLIPSE_DEVICE:-}" ] || set -- AQLIPSE_DEVICE="$AQLIPSE_DEVICE" "$@"
    [ ! -f "$here/thunk/libdtif.so" ] || set -- HSA_ENABLE_DTIF=1 "$@"
  elif [ -n "${HIP_VISIBLE_DEVICES:-}" ]; then
    set -- HIP_VISIBLE_DEVICES="$HIP_VISIBLE_DEVICES" "$@"
  else
    set -- HIP_VISIBLE_DEVICES="$(seq -s , 0 $((devices - 1)))" "$@"
  fi
  env -i "$@"
}

count() { sed -n "s/^$1: //p" "$work/probe"; }

# How many devices there are: as many as the programs ask for, at most.
most=$(cut -f 2 "$here/programs.tsv" | sort -n | tail -n 1)
run "$most" timeout -k 5 60 "$here/programs/probe" >"$work/probe" 2>"$work/errors" || {
  cat "$work/probe" "$work/errors" >&2
  fail "the first program does not run on $library"
}
there=$(count devices)
[ "${there:-0}" -gt 0 ] || { cat "$work/probe" "$work/errors" >&2; fail "$library finds no device"; }

wanted() {
  [ $# -gt 1 ] || return 0
  name=$1
  shift
  for filter in "$@"; do
    case $name in *"$filter"*) return 0 ;; esac
  done
  return 1
}

tab=$(printf '\t')
# Folders can have a user's name in them.
nameless='s|/[^ ,]*/\([^/ ,]*\)|\1|g'
{
  cat "$here/kit.txt"
  sed -e "$nameless" -e 's/^/# /' "$work/probe"
  echo "# kernel: $(uname -sr)"
  echo "# date: $(date -u +%Y-%m-%d)"
  [ -z "$emulate" ] || echo "# emulated: $emulate"
} >"$work/results"
printf 'program\ttext\n' >"$work/lines"
done=0
while IFS=$tab read -r name devices; do
  wanted "$name" "$@" || continue
  if [ "$devices" -gt "$there" ]; then
    echo "# skipped $name: it needs $devices devices" >>"$work/results"
    continue
  fi
  mkdir "$work/run/$name"
  (cd "$work/run/$name" && run "$devices" timeout -k 5 60 "$here/programs/$name" </dev/null) \
    >"$work/out" 2>"$work/errors"
  status=$?
  if [ $status -eq 0 ]; then
    sed "s/^/$name$tab/" "$work/out" >>"$work/lines"
  else
    # What it printed up to there is no answer.
    echo "# failed $name: $status" >>"$work/results"
  fi
  rm -rf "$work/run/$name"
  done=$((done + 1))
  printf '\r%d programs' $done >&2
done <"$here/programs.tsv"
printf '\n' >&2
[ $done -gt 0 ] || fail "no program's name contains what was asked for"

if [ $bench = yes ]; then
  echo "launch times: a minute" >&2
  set -- "$here/bin/aqlipse" bench --against "$library" --quick --execute
  [ -n "$emulate" ] || set -- "$@" --no-thunk
  if run 1 "$@" >"$work/bench" 2>"$work/errors"; then
    sed -e "$nameless" -e 's/^/# bench: /' "$work/bench" >>"$work/results"
  else
    sed -e "$nameless" -e 's/^/# bench failed: /' "$work/errors" >>"$work/results"
  fi
fi
cat "$work/results" "$work/lines" >"$output" || exit 1
echo "$output" >&2
