"""hashcat's HIP back end: it compiles kernels of its own by hiprtc and searches passwords, whose hashes the host makes."""

import hashlib
import subprocess

from agreement import check, finish

OPTIONS = [
    "--quiet", "--force", "--potfile-disable", "--logfile-disable", "--restore-disable",
    "--backend-ignore-cuda", "--backend-ignore-opencl", "--outfile-format=2",
    "--kernel-accel=16", "--kernel-loops=1", "--kernel-threads=64",
]  # fmt: skip
KINDS = {"md5": 0, "sha1": 100, "sha256": 1400, "sha512": 1700}


def found(kind, password, *attack):
    """What hashcat finds for the hash of a password."""
    digest = hashlib.new(kind, password.encode()).hexdigest()
    command = ["hashcat", f"--hash-type={KINDS[kind]}", *OPTIONS, digest, *attack]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if not done.stdout:
        print(done.stderr, flush=True)
    return done.stdout.strip()


for kind in KINDS:

    @check(f"{kind} of three digits and two letters, by a mask")
    def _():
        return found(kind, "407ab", "--attack-mode=3", "4?d?d?l?l") == "407ab", True


finish()
