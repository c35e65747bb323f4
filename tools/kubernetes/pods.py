"""Containers of manifests, run as a kubelet would: a root of their own that is read-only, their volumes where they are
mounted and nowhere else, their users, groups and capabilities, a PID and mount namespace each. All share a network in
which the collector's service has its name. Not here: limits, seccomp, scheduling."""
import ctypes
import fcntl
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time

CLONE_NEWNET = 0x40000000
# What the programs of images need: the host's, in place of their own.
OF_HOST = ["usr", "bin", "lib", "lib64"]


def leave_the_network():
    """Goes on in a network of this process and its children alone. Whether that is allowed."""
    if os.geteuid() != 0 or ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:
        return False
    with socket.socket() as of_any_kind:
        request = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(of_any_kind, 0x8914, request)  # SIOCSIFFLAGS
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], stderr=subprocess.DEVNULL).returncode == 0


class Node:
    """A node: folders of its file system that pods ask for. The secrets and ConfigMaps of the cluster are files and
    their contents by kind and name; images are programs and their paths here by the image's name."""

    def __init__(self, work, objects, images, names):
        self.work, self.objects, self.images, self.pods = pathlib.Path(work), objects, images, 0
        os.chmod(work, 0o755)
        self.etc = self.work / "etc"
        self.etc.mkdir()
        (self.etc / "hosts").write_text(f"127.0.0.1 localhost {' '.join(names)}\n")
        (self.etc / "nsswitch.conf").write_text("hosts: files\n")
        # The image has them there too; a container without an authority of its own asks for them.
        authorities = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        (self.etc / "ssl/certs").mkdir(parents=True)
        (self.etc / "ssl/certs" / authorities.name).write_bytes(authorities.read_bytes())
        shm = self.work / "host/dev/shm"
        shm.mkdir(parents=True)
        # In memory, as on a node: recorder and reader ask what file system it is.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "shm", shm], check=True)

    def end(self):
        subprocess.run(["umount", "-l", self.work / "host/dev/shm"], check=False)


class Pod:
    """A pod of a manifest, with its volumes."""

    def __init__(self, node, spec, name, claims=()):
        self.node, self.spec, self.name = node, spec, name
        self.security = spec.get("securityContext", {})
        self.folder = node.work / "pods" / f"{node.pods}-{name}"
        node.pods += 1
        self.folder.mkdir(parents=True)
        self.group = self.security.get("fsGroup")
        self.volumes = {volume["name"]: self.volume(volume) for volume in spec.get("volumes", [])}
        self.volumes |= {claim["metadata"]["name"]: self.made(claim["metadata"]["name"], 0o755) for claim in claims}

    def made(self, name, mode):
        """A new volume. With fsGroup it belongs to that group, which may write."""
        path = self.folder / name
        path.mkdir()
        os.chmod(path, mode if self.group is None else mode | 0o2770)
        os.chown(path, 0, self.group or 0)
        return path

    def volume(self, volume):
        if "hostPath" in volume:
            path = self.node.work / f"host{volume['hostPath']['path']}"
            if volume["hostPath"]["type"] == "DirectoryOrCreate":
                path.mkdir(parents=True, exist_ok=True)
            if not path.is_dir():
                raise FileNotFoundError(f"{self.name}: the node has no {volume['hostPath']['path']}")
            return path
        path = self.made(volume["name"], 0o777)
        if "emptyDir" in volume:
            return path
        kind, key = ("secret", "secretName") if "secret" in volume else ("configMap", "name")
        mode = volume[kind].get("defaultMode", 0o644) | (0o440 if self.group is not None else 0)
        for name, content in self.node.objects[kind, volume[kind][key]].items():
            (path / name).write_bytes(content)
            os.chown(path / name, 0, self.group or 0)
            os.chmod(path / name, mode)
        return path

    def container(self, container, words=None, extra=()):
        return Container(self, container, words, extra)


class Container:
    """A container that runs. `words` are what it runs in place of its own arguments, `extra` what else is mounted:
    folder and place."""

    def __init__(self, pod, container, words, extra):
        self.pod, self.spec, self.words = pod, container, [str(word) for word in words or self.own_words(container)]
        self.root = pod.folder / f"root-{container['name']}-{time.monotonic_ns()}"
        self.root.mkdir()
        mounts = [(pod.volumes[mount["name"]], mount["mountPath"], mount.get("readOnly", False))
                  for mount in container.get("volumeMounts", [])]
        programs = pod.node.images[container["image"]].items()
        mounts += [(pathlib.Path(path), f"/image/{program}", True) for program, path in programs]
        mounts += [(pathlib.Path("/") / name, f"/{name}", True) for name in OF_HOST if not os.path.islink(f"/{name}")]
        mounts += [(*pair, False) for pair in extra]
        lines = [f"mount -t tmpfs none {self.root}", f"cd {self.root}", "mkdir proc dev", f"cp -r {pod.node.etc} etc", "mount -t proc none proc"]
        lines += [f"ln -s {os.readlink(f'/{name}')} {name}" for name in OF_HOST if os.path.islink(f"/{name}")]
        for device in ("null", "zero", "urandom", "random"):
            lines += [f"touch dev/{device}", f"mount --bind /dev/{device} dev/{device}"]
        # Parents before what is mounted below them.
        for source, place, is_read_only in sorted(mounts, key=lambda mount: mount[1]):
            lines += [f"mkdir -p .{place}"] if source.is_dir() else [f"mkdir -p .{os.path.dirname(place)}", f"touch .{place}"]
            lines += [f"mount --bind {source} .{place}"]
            lines += [f"mount -o remount,bind,ro .{place}"] if is_read_only else []
        lines += [f"mount -o remount,ro,bind {self.root}"] if self.security().get("readOnlyRootFilesystem") else []
        lines += ['exec chroot . "$@"']
        inner = ["sh", "-euc", "\n".join(lines), "sh", *self.as_its_user(), *self.words]
        self.log = open(self.root.with_suffix(".log"), "w+b")
        self.process = subprocess.Popen(["unshare", "--mount", "--propagation", "slave", "--pid", "--fork",
                                         "--kill-child=KILL", *inner], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def own_words(self, container):
        return container.get("command", []) + container.get("args", []) if "command" in container \
            else ["chronoscope", *container["args"]]

    def security(self):
        return self.pod.security | self.spec.get("securityContext", {})

    def as_its_user(self):
        """The words that make the process what its security context says."""
        context = self.security()
        user, group = context["runAsUser"], context.get("runAsGroup", 0)
        groups = [*context.get("supplementalGroups", []), *([context["fsGroup"]] if "fsGroup" in context else [])]
        added = [f"+{name.lower()}" for name in context["capabilities"].get("add", [])]
        kept = ",".join(["-all", *added])
        words = ["/usr/bin/setpriv", f"--bounding-set={kept}", "--inh-caps=-all", f"--reuid={user}", f"--regid={group}"]
        words += [f"--groups={','.join(map(str, groups))}"] if groups else ["--clear-groups"]
        return [*words, "--no-new-privs", "env", "-i", "PATH=/image", *self.environment()]

    def environment(self):
        found = {}
        fields = {"metadata.name": self.pod.name, "metadata.namespace": "chronoscope", "metadata.uid": f"uid-{self.pod.name}",
                  "spec.nodeName": "node"}
        for variable in self.spec.get("env", []):
            value = fields[variable["valueFrom"]["fieldRef"]["fieldPath"]] if "valueFrom" in variable else variable["value"]
            found[variable["name"]] = re.sub(r"\$\((\w+)\)", lambda name: found.get(name[1], name[0]), value)
        return [f"{name}={value}" for name, value in found.items()]

    def first(self):
        """Number of its first process in this PID namespace."""
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[0])

    def execute(self, words):
        """Runs a command in the container, as probes do: exit code, and what it says."""
        inside = ["nsenter", f"--target={self.first()}", "--mount", "--pid", "--root", "--wd"]
        done = subprocess.run([*inside, *self.as_its_user(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout.strip()

    def wait(self, seconds=60):
        """Waits for its end: exit code, and what it said."""
        self.process.wait(seconds)
        self.log.seek(0)
        # `unshare` says that it was killed with its child.
        said = [line for line in self.log.read().decode().splitlines() if not line.startswith("unshare: ")]
        return self.process.returncode, "\n".join(said)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            os.kill(self.first(), how)
        return self.wait()
