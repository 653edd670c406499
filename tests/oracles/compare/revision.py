"""Another revision's program, built in a git worktree that stays for the next time."""

import os
import subprocess
import sys


class RevisionError(Exception):
    """What stands in the way, in a sentence."""


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RevisionError(f"git {arguments[0]}: {done.stderr.strip().splitlines()[-1:] or 'failed'}")
    return done.stdout.strip()


def build_revision(rev, work):
    """The release program of rev. A build that failed is taken up again."""
    commit = git("rev-parse", "--verify", "--quiet", rev + "^{commit}") if rev else ""
    folder = os.path.join(work, commit[:12])
    program = os.path.join(folder, "build", "etlheap")
    if os.path.exists(os.path.join(folder, ".built")):
        return program
    if not os.path.exists(os.path.join(folder, "Makefile")):
        git("worktree", "prune")
        os.makedirs(work, exist_ok=True)
        git("worktree", "add", "--force", "--detach", folder, commit)
    print(f"compare: building {commit[:12]} in {folder}", file=sys.stderr, flush=True)
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MFLAGS", "BUILD", "VARIANT", "PLATFORM", "TRACES")}
    done = subprocess.run(["make", "-C", folder, "-s", f"-j{os.cpu_count()}", "build/etlheap"], capture_output=True,
                          text=True, env=environment)
    if done.returncode != 0:
        raise RevisionError(f"{rev} does not build: {' / '.join(done.stderr.strip().splitlines()[-3:])}")
    with open(os.path.join(folder, ".built"), "w", encoding="utf-8"):
        pass
    return program
