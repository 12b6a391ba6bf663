"""A Slurm of one machine, for tests."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@contextlib.contextmanager
def cluster(folder):
    """Within, the environment of a Slurm that is started in this folder, never one that others use."""
    folder = pathlib.Path(folder, "slurm")
    for part in ("state", "spool"):
        (folder / part).mkdir(parents=True)
    ports = [free_port() for _ in range(2)]
    text = CONFIGURATION.format(
        host=socket.gethostname(), folder=folder, cores=os.cpu_count(), port=ports[0], node_port=ports[1]
    )
    (folder / "slurm.conf").write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    path = os.environ["PATH"] + ":/usr/sbin"
    servers = []
    for name in ("slurmctld", "slurmd"):
        words = [shutil.which(name, path=path) or name, "-D"]
        with open(folder / f"{name}.out", "wb") as out:
            servers.append(subprocess.Popen(words, env=environment, stdout=out, stderr=out))
    try:
        until(lambda: "idle" in shown(["sinfo", "--noheader", "--format=%T"], environment), 60, "Slurm did not start")
        yield environment
    finally:
        for server in reversed(servers):
            server.terminate()
        for server in servers:
            server.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def shown(words, environment):
    return subprocess.run(words, env=environment, capture_output=True, text=True).stdout


def until(is_true, seconds, failure):
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            raise TimeoutError(failure)
        time.sleep(0.5)


def submit_and_wait(job, folder, environment):
    """Submits the script and waits for all its jobs. Their output becomes that of the result."""
    done = subprocess.run(
        ["sh", str(job), "--output=slurm-%A-%a.txt"], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        return done

    seen = {}

    def is_empty():
        # Slurm lets a task that was queued again wait for two minutes. Some seconds are enough here: it must not begin
        # in the second in which it was queued, as the machine still refuses it then.
        waiting = shown(["squeue", "--noheader", "--array", "--states=PENDING", "--format=%i %r"], environment)
        waiting = {line.split()[0] for line in waiting.splitlines() if line.split()[1].strip("()") == "BeginTime"}
        for number in list(seen):
            if number not in waiting:
                del seen[number]
        for number in waiting:
            if time.monotonic() - seen.setdefault(number, time.monotonic()) > 3:
                shown(["scontrol", "update", f"JobId={number}", "StartTime=now"], environment)
        return not shown(["squeue", "--noheader"], environment).strip()

    until(is_empty, 600, "the jobs did not end")
    states = shown(["scontrol", "--oneliner", "show", "job"], environment)
    failed = [line for line in states.splitlines() if "JobState=COMPLETED" not in line]
    texts = [path.read_text() for path in sorted(pathlib.Path(folder).glob("slurm-*.txt"))]
    return subprocess.CompletedProcess(done.args, len(failed), "\n".join([done.stdout, *failed, *texts]))


SLOW = """#!/bin/sh
trap 'exit 130' TERM
echo began
if [ -e again ]; then exit 0; fi
touch again
while :; do sleep 0.1; done
"""


def check_signals(folder, environment):
    """Checks that a task whose time ends is queued again, and that a cancelled one is not.

    Takes the script that cullet wrote for a simulation, with a program that does not end by itself.
    """
    folder = pathlib.Path(folder)
    script = (folder / "job").read_text().split("\nreconstruct=")[0].replace(str(folder / "cullet"), "./slow")
    (folder / "slow").write_text(SLOW)
    (folder / "slow").chmod(0o755)
    (folder / "one_job").write_text(script)

    def state(number):
        return shown(["squeue", "--noheader", f"--jobs={number}", "--states=all", "--format=%T"], environment).strip()

    def submit():
        for name in ("again", "signals.txt"):
            (folder / name).unlink(missing_ok=True)
        words = ["sh", "one_job", "--output=signals.txt"]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        number = done.stdout.split()[1]
        until(lambda: (folder / "again").exists(), 60, "the task did not begin")
        return number

    number = submit()
    subprocess.run(["scancel", "--signal=USR1", "--batch", number], env=environment, check=True)
    until(lambda: state(number) == "PENDING", 60, f"a task whose time ends was not queued again: {state(number)}")
    time.sleep(3)
    shown(["scontrol", "update", f"JobId={number}", "StartTime=now"], environment)
    until(lambda: state(number) == "COMPLETED", 60, f"a task that was queued again did not end: {state(number)}")
    number = submit()
    subprocess.run(["scancel", number], env=environment, check=True)
    until(lambda: state(number) == "CANCELLED", 60, f"a cancelled task is {state(number)}")
