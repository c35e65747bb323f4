"""What is asked of manifests without running them."""
import json
import pathlib
import re
import subprocess
import tomllib

import yaml

# Images that the test knows how to run. Whoever adds another one says here what it has.
PROGRAM = "PROGRAM"
IMAGES = ["chronoscope:0.1.0", "busybox:1.37", PROGRAM]


def documents(text):
    return [document for document in yaml.safe_load_all(text) if document]


def pod_of(document):
    """The pod of a document, and the claims of storage that it has besides its volumes."""
    spec = document.get("spec", {})
    return spec.get("template", {}).get("spec"), spec.get("volumeClaimTemplates", [])


def containers(pod):
    return pod.get("initContainers", []) + pod.get("containers", [])


def names(text):
    return {(document["kind"], document["metadata"]["name"]) for document in documents(text)}


def shared_places(one, other):
    """Folders of the node that two releases have both: they would read the same rings."""
    def places(text):
        pods = [pod_of(document)[0] or {} for document in documents(text)]
        for pod in pods:
            for container in containers(pod):
                for variable in container.get("env", []):
                    if variable["name"].endswith("_RINGS"):
                        yield variable["value"]
            yield from (volume["hostPath"]["path"] for volume in pod.get("volumes", [])
                        if volume.get("hostPath", {}).get("type") == "DirectoryOrCreate")
    shared = set(places(one)) & set(places(other))
    return [f"two releases share folders of the node: {sorted(shared)}"] if shared else []


def schemas(folder):
    """The schemas of the installed package as kubeconform finds them: without the address that they say they have,
    at which it would look for their definitions."""
    import kubernetes_validate
    for path in (pathlib.Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema").glob("*-local-strict/*.json"):
        if not re.search(r"^(_definitions|(configmap|service|pod)-v1|(daemonset|deployment|statefulset)-apps-v1)\.json$", path.name):
            continue
        schema = json.loads(path.read_text().replace('"$ref": "/api/', '"$ref": "'))
        schema.pop("$id")
        made = folder / path.parent.name / path.name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps(schema))
    return f"{folder}/{{{{ .NormalizedKubernetesVersion }}}}-local{{{{ .StrictSuffix }}}}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"


SPOILT = [("hostNetwork: true", "hostNetwrk: true"), ("hostNetwork: true", "hostNetwork: maybe"), ("maxSurge: 0", "maxSurge: [0]")]


def conform(kubeconform, texts, work, oldest, newest):
    """What kubeconform finds wrong. It has to find that spoilt documents are."""
    place = schemas(pathlib.Path(work) / "schemas")
    folder = pathlib.Path(work) / "documents"
    folder.mkdir()
    spoilt = {f"plain.yaml with {after}": texts["plain.yaml"].replace(before, after) for before, after in SPOILT}
    files = {str(folder / f"{number}.yaml"): name for number, name in enumerate([*texts, *spoilt])}
    for file, name in files.items():
        pathlib.Path(file).write_text((texts | spoilt)[name])

    def found(version, are_asked):
        asked = [file for file, name in files.items() if are_asked(name)]
        words = [kubeconform, "-strict", "-output", "json", "-kubernetes-version", version, "-schema-location", place, *asked]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = [(files[each["filename"]], f"Kubernetes {version}: {each['kind']} {each['name']}: {each['msg']}")
                for each in json.loads(done.stdout)["resources"]]
        return said or ([("kubeconform", done.stderr)] if done.returncode != 0 else [])

    said = found(newest, lambda name: True)
    for version in {"1.25.0", *oldest.values()}:
        said += found(version, lambda name: name not in spoilt and oldest.get(name, "1.25.0") == version)
    named = {name for name, _ in said}
    return [f"{name}: {line}" for name, line in said if name not in spoilt] + \
        [f"kubeconform takes {name}" for name in spoilt if name not in named]


def paths_of(container, config_maps, pod):
    """Absolute paths in what a container is told: arguments, environment, and the TOML files that it mounts."""
    values = [str(word) for word in container.get("args", [])] + [word for word in container.get("command", []) if " " not in word]
    values += [str(variable["value"]) for variable in container.get("env", []) if "value" in variable]
    for command in container.get("command", []):
        values += re.findall(r"(?<= )/\S+", command)
    mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
    for volume in pod.get("volumes", []):
        if volume["name"] in mounted and "configMap" in volume:
            for name, text in config_maps.get(volume["configMap"]["name"], {}).items():
                values += [value for value in tomllib.loads(text).values() if isinstance(value, str)] if name.endswith(".toml") else []
    return [value for value in values if re.match(r"^/[^/]", value)]


def belong_together(where, text, documented):
    """Volumes that do not exist or that nobody mounts, paths outside of them, objects that nobody makes, images that
    nobody knows."""
    found = documents(text)
    config_maps = {d["metadata"]["name"]: d.get("data", {}) for d in found if d["kind"] == "ConfigMap"}
    objects = set(documented) | {("configMap", name) for name in config_maps}
    services = {d["metadata"]["name"]: d["spec"] for d in found if d["kind"] == "Service"}
    for document in found:
        pod, claims = pod_of(document)
        if pod is None:
            continue
        kind = f"{where}: {document['kind']}"
        volumes = {volume["name"] for volume in pod.get("volumes", [])} | {claim["metadata"]["name"] for claim in claims}
        used = set()
        for container in containers(pod):
            mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
            used |= set(mounts)
            yield from (f"{kind} {container['name']}: no volume {name}" for name in set(mounts) - volumes)
            for path in paths_of(container, config_maps, pod):
                if not any(path == mount or path.startswith(f"{mount}/") for mount in mounts.values()):
                    yield f"{kind} {container['name']}: {path} is in no volume"
            if container["image"] not in IMAGES:
                yield f"{kind} {container['name']}: the test does not know the image {container['image']}"
        yield from (f"{kind}: nothing mounts {name}" for name in volumes - used)
        for volume in pod.get("volumes", []):
            for of, key in (("secret", "secretName"), ("configMap", "name")):
                if of in volume and (of, volume[of][key]) not in objects:
                    yield f"{kind}: neither docs/install.md nor the file makes the {of} {volume[of][key]}"
        if document["kind"] == "StatefulSet":
            service = services.get(document["spec"]["serviceName"], {})
            if service.get("clusterIP") != "None":
                yield f"{kind}: its service {document['spec']['serviceName']} is not headless"


# Changes of plain.yaml after which something no longer belongs together.
TORN = [("mountPath: /spool", "mountPath: /spul"), ("rings = \"/tmp/none\"", "rings = \"/var/none\""),
        ("value: /secrets/token/token", "value: /secret/token"), ("name: chronoscope-ca", "name: chronoscope-authority"),
        ("secretName: chronoscope-tls", "secretName: tls"), ("image: busybox:1.37", "image: busybox:1.38"),
        ("{ name: tmp, mountPath: /tmp }", "{ name: temporary, mountPath: /tmp }"), ("clusterIP: None", "clusterIP: 10.0.0.1"),
        ("mkdir -p /host/dev/shm", "mkdir -p /dev/shm"), ("args: [agent, --quiet]", "args: [agent, --rings, /rings]")]


def check_the_check(text, documented):
    """A check that finds nothing in torn documents is none."""
    for before, after in TORN:
        if before not in text:
            yield f"plain.yaml has no {before!r} to be torn"
        elif not list(belong_together("torn", text.replace(before, after), documented)):
            yield f"{after!r} in plain.yaml is not found to be wrong"
