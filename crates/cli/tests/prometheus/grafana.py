"""Reads dashboards and alert rules by Grafana's own types (grafana-foundation-sdk, generated from
Grafana's schemas): grafana.py FOLDER, with the layout of dist/grafana.

Prints what those do not know, which is lost when it is read, what is not of its type, and alerts that
are not the same for Prometheus and for Grafana. On stderr: what was read.
"""
import enum
import json
import pathlib
import sys
import typing

import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.alerting import Rule
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(given, read, place):
    """Members of a document that are not there, or different, after it was read."""
    if isinstance(given, dict):
        for key, value in given.items():
            if isinstance(read, dict) and key in read:
                yield from lost(value, read[key], f"{place}.{key}")
            elif value not in (None, [], {}, "", False):
                yield f"{place}.{key} is not known"
    elif isinstance(given, list):
        for index, value in enumerate(given):
            yield from lost(value, read[index], f"{place}[{index}]")
    elif given != read:
        yield f"{place}: {given!r} is read as {read!r}"


def mistyped(value, kind, place):
    """Values that are not of the type that the schema gives them."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in (object, typing.Any):
        return
    if origin is typing.Union:
        if value is None and type(None) in arguments:
            return
        others = [one for one in arguments if one is not type(None)]
        own = [one for one in others if one is type(value)]
        if len(own or others) == 1:
            yield from mistyped(value, (own or others)[0], place)
        elif all(any(mistyped(value, one, place)) for one in others):
            yield f"{place}: {value!r} is not {kind}"
    elif origin is typing.Literal:
        if value not in arguments:
            yield f"{place}: {value!r} is not {kind}"
    elif origin is list:
        if not isinstance(value, list):
            yield f"{place}: {value!r} is not a list"
            return
        for index, one in enumerate(value):
            yield from mistyped(one, arguments[0], f"{place}[{index}]")
    elif origin is dict:
        if not isinstance(value, dict):
            yield f"{place}: {value!r} is not an object"
            return
        for key, one in value.items():
            yield from mistyped(one, arguments[1], f"{place}.{key}")
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        if value not in [one.value for one in kind]:
            yield f"{place}: {value!r} is not {kind}"
    elif isinstance(kind, type):
        # A class of queries or options is declared by what all of them have.
        numbers = (int, float) if kind is float else kind
        is_class = type(value).__module__.startswith("grafana_foundation_sdk")
        is_variant = kind.__module__.startswith("grafana_foundation_sdk.cog") and is_class
        if not isinstance(value, numbers) and not is_variant:
            yield f"{place}: {value!r} is not {kind}"
        elif is_class:
            yield from members(value, place)


def members(value, place):
    for name, kind in typing.get_type_hints(type(value)).items():
        yield from mistyped(getattr(value, name), kind, f"{place}.{name}")
    options = getattr(value, "options", None)
    if type(options).__module__.startswith("grafana_foundation_sdk"):
        yield from members(options, f"{place}.options")
    for index, target in enumerate(getattr(value, "targets", None) or []):
        yield from members(target, f"{place}.targets[{index}]")


def check(kind, document, place):
    """Reads a document as a type; prints its faults."""
    read = kind.from_json(document)
    for fault in lost(document, json.loads(JSONEncoder().encode(read)), place):
        print(fault)
    for fault in members(read, place):
        print(fault)
    return read


def yaml_of(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


plugins.register_default_plugins()
top = pathlib.Path(sys.argv[1])
for path in sorted((top / "dashboards").iterdir()):
    board = check(Dashboard, json.loads(path.read_text(encoding="utf-8")), path.name)
    kinds = {type(panel.options).__module__.rpartition(".")[2] for panel in board.panels}
    print(f"{path.name}: {len(board.panels)} panels, {' '.join(sorted(kinds))}", file=sys.stderr)

[source] = yaml_of(top / "provisioning/datasources/prometheus.yaml")["datasources"]
[group] = yaml_of(top / "provisioning/alerting/chronoscope.yaml")["groups"]
rules = {}
for rule in group["rules"]:
    # What a file says of the group, the type has in each rule.
    check(Rule, {**rule, "orgID": group["orgId"], "folderUID": "", "ruleGroup": ""}, rule["title"])
    assert len(rule["uid"]) <= 40 and rule["title"] not in rules, rule["uid"]
    query, condition = rule["data"]
    assert query["datasourceUid"] == source["uid"], rule["title"]
    assert (query["refId"], condition["refId"], rule["condition"]) == ("A", "B", "B"), rule["title"]
    labels = (rule["labels"], rule["annotations"])
    rules[rule["title"]] = (query["model"]["expr"], rule["for"], *labels)
[group] = yaml_of(top / "prometheus/rules.yml")["groups"]
for rule in group["rules"]:
    same = (rule["expr"], rule.get("for", "0m"), rule["labels"], rule["annotations"])
    if rules.pop(rule["alert"], None) != same:
        print(f"{rule['alert']} is not the same for Prometheus and Grafana")
for title in rules:
    print(f"{title} is for Grafana only")
print(f"{len(group['rules'])} alerts", file=sys.stderr)
