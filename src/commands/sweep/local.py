# Runs tasks through HyperQueue's Python interface: on workers of this machine that it starts, or on those of a running server.
# The job is the only argument, as JSON: workers (a number, or null for a running server), tasks, command, env, cwd, folder.
import json
import sys

try:
    from hyperqueue import Job, LocalCluster
    from hyperqueue.client import Client
    from hyperqueue.cluster import WorkerConfig
except ImportError as error:
    sys.exit(f"HyperQueue is not installed for python3 ({error}): pip install hyperqueue")

asked = json.loads(sys.argv[1])
folder = asked["folder"]
job = Job(max_fails=None, name="gpulab")
for task in range(asked["tasks"]):
    log = f"{folder}/{task}.log"
    job.program(asked["command"], env=asked["env"], cwd=asked["cwd"], stdout=log, stderr=f"{folder}/{task}.err", crash_limit=100)


def run(client):
    # Which tasks failed, their logs and rows say.
    client.wait_for_jobs([client.submit(job)], raise_on_error=False)


if asked["workers"] is None:
    run(Client())
else:
    with LocalCluster(server_dir=f"{folder}/server") as cluster:
        for _ in range(asked["workers"]):
            cluster.start_worker(WorkerConfig(cores=1))
        run(cluster.client())
