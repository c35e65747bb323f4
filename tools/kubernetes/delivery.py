"""Runs the commands of docs/install.md, and then the containers of the manifests with what these commands made."""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

import manifests
import pods

SECONDS = 5
RATE = 200  # rows a second of each program
SERVICE = "chronoscope-serve.chronoscope.svc"
# Takes the place of kubectl and helm: keeps what they were told.
NOTED = """#!/bin/sh
printf '%s\\n' "$(basename "$0")" "$@" | sed "s/'/'\\\\\\\\''/g; s/.*/'&'/" | tr '\\n' ' ' >>"$NOTES"
echo >>"$NOTES"
"""


def can_run():
    if subprocess.run(["sh", "-c", f'. "{pathlib.Path(__file__).parent.parent}/env.sh"; need busybox busybox']).returncode != 0:
        return False
    return pods.leave_the_network()


def documented(page, work):
    """The secrets and ConfigMaps that the commands of the page make: files and their contents by kind and name."""
    section = page.read_text().split("\n## Kubernetes\n", 1)[1]
    commands = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]
    work = pathlib.Path(work)
    for name in ("kubectl", "helm"):
        (work / "bin").mkdir(exist_ok=True)
        (work / "bin" / name).write_text(NOTED)
        (work / "bin" / name).chmod(0o755)
    folder, notes = work / "documented", work / "notes"
    folder.mkdir()
    notes.touch()
    subprocess.run(["sh", "-euc", commands], cwd=folder, check=True, stderr=subprocess.PIPE,
                   env={"PATH": f"{work / 'bin'}:{os.environ['PATH']}", "NOTES": str(notes)})
    made = {}
    for line in notes.read_text().splitlines():
        words = [word for word in shlex.split(line) if not word.startswith("--namespace")]
        flags = [flag.split("=", 1) for flag in words if flag.startswith("--") and "=" in flag]
        match [word for word in words if not word.startswith("--")]:
            case ["kubectl", *_, "create", "secret", "generic", name]:
                made["secret", name] = {key.split("=")[0]: value.encode() for flag, pair in flags if flag == "--from-literal"
                                        for key, value in [pair.split("=", 1)]}
            case ["kubectl", *_, "create", "secret", "tls", name]:
                made["secret", name] = {f"tls.{end}": (folder / dict(flags)[f"--{flag}"]).read_bytes()
                                        for end, flag in (("crt", "cert"), ("key", "key"))}
            case ["kubectl", *_, "create", "configmap", name]:
                made["configMap", name] = {file: (folder / file).read_bytes() for flag, file in flags if flag == "--from-file"}
    return made


def node(work, name, objects, program, counted=None):
    busybox = subprocess.run(["sh", "-c", "command -v busybox"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    images = {"chronoscope:0.1.0": {"chronoscope": program}, manifests.PROGRAM: {"counted": counted} if counted else {},
              "busybox:1.37": {applet: busybox for applet in ("sh", "mkdir", "chown", "chmod")}}
    folder = pathlib.Path(work) / name
    folder.mkdir()
    return pods.Node(folder, objects, images, [SERVICE])


def own_objects(found):
    return {("configMap", document["metadata"]["name"]): {file: text.encode() for file, text in document["data"].items()}
            for document in found if document["kind"] == "ConfigMap"}


def check_configurations(texts, objects, work, program):
    """Has the program check what each of its containers would run, in that container."""
    wrong, count = [], 0
    for place, (where, text) in enumerate(texts.items()):
        found = manifests.documents(text)
        at = node(work, f"check-{place}", objects | own_objects(found), program)
        try:
            for document in found:
                spec, claims = manifests.pod_of(document)
                for number, container in enumerate(manifests.containers(spec or {})):
                    if not container["image"].startswith("chronoscope:"):
                        continue
                    for folder in (volume["hostPath"] for volume in spec["volumes"] if "hostPath" in volume):
                        (at.work / f"host{folder['path']}").mkdir(parents=True, exist_ok=True)
                    pod = pods.Pod(at, spec, f"{document['kind'].lower()}-{number}", claims)
                    code, said = pod.container(container, ["chronoscope", *container["args"], "--check"]).wait()
                    count += 1
                    if code != 0 or "configuration is valid" not in said:
                        wrong.append(f"{where}: {document['kind']} {container['name']}: {said}")
        finally:
            at.end()
    return count, wrong


def probe(container, kind):
    return container.execute(container.spec[kind]["exec"]["command"])


def eventually(what, holds, seconds=60):
    until = time.monotonic() + seconds
    while not (answer := holds()):
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.1)
    return answer


def of_kind(text, kind):
    return next(document for document in manifests.documents(text) if document["kind"] == kind)


class Cluster:
    """One node with everything of the plain files on it."""

    def __init__(self, folder, at, said):
        self.at, self.said, self.running = at, said, []
        self.plain, self.files = (folder / "plain.yaml").read_text(), folder

    def start(self, pod, container, words=None):
        started = pod.container(container, words, [(self.said, "/said")])
        self.running.append(started)
        return started

    def begin(self):
        serve = of_kind(self.plain, "StatefulSet")
        spec, claims = manifests.pod_of(serve)
        self.serve_pod = pods.Pod(self.at, spec, "chronoscope-serve-0", claims)
        self.serve = self.start(self.serve_pod, spec["containers"][0])
        spec = manifests.pod_of(of_kind(self.plain, "DaemonSet"))[0]
        pod = pods.Pod(self.at, spec, "chronoscope-agent-0")
        # Twice: a pod that is started again finds the folder.
        for _ in range(2):
            code, said = pod.container(spec["initContainers"][0]).wait()
            if code != 0:
                raise RuntimeError(f"the init container fails: {said}")
        self.agent = self.start(pod, spec["containers"][0])
        self.programs = [self.measured("measured.yaml", "shop-node-0")]
        self.programs.append(self.measured("sidecar.yaml", "shop-sidecar-0"))

    def measured(self, file, name):
        spec = manifests.pod_of(of_kind((self.files / file).read_text(), "Deployment"))[0]
        pod = pods.Pod(self.at, spec, name)
        for container in spec.get("initContainers", []):
            self.sidecar = self.start(pod, container)
        return self.start(pod, spec["containers"][0], ["counted", RATE, f"/said/{name}"])

    def agents_deliver(self):
        # The declared probe of the agent on the node; the sidecar's pod is ready without.
        return probe(self.agent, "readinessProbe")[0] == 0

    def finish(self):
        """Kills the programs, and ends the rest in order once agents have delivered all."""
        for program in self.programs:
            program.end(signal.SIGKILL)
        spools = [self.agent.pod.volumes["spool"], self.sidecar.pod.volumes["spool"] / "rows"]

        def is_done(spool):
            status = json.loads((spool / "status.json").read_text())
            return not status["processes"] and status["delivery"]["waiting_rows"] == 0 and status["delivery"]["acknowledged_rows"]
        for spool in spools:
            eventually(f"all of {spool.name} is delivered", lambda: is_done(spool))
        alive = [probe(agent, "livenessProbe") for agent in (self.agent, self.sidecar)]
        for container in (self.agent, self.sidecar, self.serve):
            container.end()
        return [f"liveness of an agent: {said}" for code, said in alive if code != 0]


def deliver(folder, objects, work, program, counted):
    """Runs the plain files together: rows that were stored, and what is wrong."""
    plain = manifests.documents((folder / "plain.yaml").read_text())
    at = node(work, "node", objects | own_objects(plain), program, counted)
    said = pathlib.Path(work) / "said"
    said.mkdir()
    os.chmod(said, 0o777)
    cluster = Cluster(folder, at, said)
    try:
        cluster.begin()
        eventually("the agent of the node is ready", cluster.agents_deliver)
        time.sleep(SECONDS)
        wrong = cluster.finish()
        recorded = {path.name: int(path.read_text()) for path in said.iterdir()}
        words = [program, "classes", "--data", cluster.serve_pod.volumes["data"], "--json", "--by"]

        def stored(key):
            answer = json.loads(subprocess.run([*words, key], check=True, stdout=subprocess.PIPE).stdout)
            return {row["group"]["values"][0]: row["elapsed"]["count"] for row in answer["classes"]["rows"]}
        of_pods, total = stored("k8s.pod.name"), stored("k8s.deployment.name")
        # A program may be killed after it has recorded and before it has said so.
        surplus = -(-RATE // 50)
        wrong += [f"{pod} recorded {rows} rows, {of_pods.get(pod, 0)} are stored" for pod, rows in recorded.items()
                  if not rows <= of_pods.get(pod, 0) <= rows + surplus]
        wrong += [] if len(recorded) == 2 and all(recorded.values()) else [f"programs recorded {recorded}"]
        wrong += [] if total == {"shop": sum(of_pods.values())} else [f"rows by deployment: {total}"]
        return sum(of_pods.values()), wrong
    except (RuntimeError, TimeoutError, FileNotFoundError) as error:
        for container in cluster.running:
            code, log = container.end(signal.SIGKILL)
            log = "\n".join(log.splitlines()[-4:])
            error.add_note(f"{container.pod.name} {container.spec['name']}: {log}")
        return 0, ["\n".join([repr(error), *getattr(error, "__notes__", [])])]
    finally:
        for container in cluster.running:
            container.end(signal.SIGKILL)
        at.end()
