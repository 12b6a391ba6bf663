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
    """Within, the environment of a Slurm: the one that answers, or one that is started in this folder."""
    if subprocess.run(["sinfo"], capture_output=True).returncode == 0:
        yield dict(os.environ)
        return
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

    def is_empty():
        # Slurm lets a task that was queued again wait for two minutes, so that another machine may be found.
        waiting = shown(["squeue", "--noheader", "--array", "--states=PENDING", "--format=%i %r"], environment)
        for line in waiting.splitlines():
            number, reason = line.split(maxsplit=1)
            if reason == "(BeginTime)" or reason == "BeginTime":
                shown(["scontrol", "update", f"JobId={number}", "StartTime=now"], environment)
        return not shown(["squeue", "--noheader"], environment).strip()

    until(is_empty, 600, "the jobs did not end")
    states = shown(["scontrol", "--oneliner", "show", "job"], environment)
    failed = [line for line in states.splitlines() if "JobState=COMPLETED" not in line]
    texts = [path.read_text() for path in sorted(pathlib.Path(folder).glob("slurm-*.txt"))]
    return subprocess.CompletedProcess(done.args, len(failed), "\n".join([done.stdout, *failed, *texts]))
