"""Checks calls against botocore's models of AWS: operations, their addresses, parameters, and paths in their answers."""
import json
import re
import sys

import botocore.session

SESSION = botocore.session.get_session()
NAMES = {"es": "opensearch", "elasticfilesystem": "efs", "elasticloadbalancing": "elbv2"}
FORMS = {"cloudwatch": "query"}  # it takes several protocols
SCALARS = {
    "bool": {"boolean"}, "text": {"string"}, "list": {"list"},
    "number": {"integer", "long", "double", "float"},
}


def steps(path):
    path = re.sub(r"\[[^\]]*\]", "", path)
    return [s for s in path.split(".") if s]


def lists(shape):
    while shape is not None and shape.type_name == "list":
        shape = shape.member
    return shape


def answer(shape, path, protocol):
    """Returns the shape at a path of an answer. Lists are transparent where the client makes lists of them."""
    todo = steps(path)
    while todo:
        name = todo.pop(0)
        if shape.type_name == "map":
            shape = shape.value
            continue
        if shape.type_name != "structure":
            return None
        for member, under in shape.members.items():
            said = under.serialization.get("name", member)
            if said == name:
                break
        else:
            return None
        shape = under
        if shape.type_name == "list" and protocol in ("query", "ec2"):
            item = shape.member.serialization.get("name", "member")
            if not shape.serialization.get("flattened") and item not in ("member", "item"):
                if todo and todo[0] == item:
                    todo.pop(0)
                elif todo:
                    return None
            if todo:
                shape = lists(shape)
        elif todo:
            shape = lists(shape)
    return shape


def json_param(shape, path):
    for name in steps(path):
        if shape.type_name == "map":
            shape = shape.value
            continue
        named = {m.serialization.get("name", n): m for n, m in getattr(shape, "members", {}).items()}
        if name not in named:
            return None
        shape = named[name]
    return shape


def form_param(shape, path, protocol):
    todo = path.split(".")
    while todo:
        name = todo.pop(0)
        if shape.type_name == "list":
            if not name.isdigit():
                return None
            shape = shape.member
            continue
        if shape.type_name != "structure":
            return None
        for member, under in shape.members.items():
            said = under.serialization.get("name", member)
            if protocol == "ec2":
                said = under.serialization.get("queryName") or said[0].upper() + said[1:]
            if said == name:
                break
        else:
            return None
        shape = under
        if shape.type_name == "list" and protocol == "query" and not shape.serialization.get("flattened"):
            item = shape.member.serialization.get("name", "member")
            if not todo or todo.pop(0) != item:
                return None
    return shape


def check_value(shape, value, where):
    if isinstance(value, bool):
        ok = shape.type_name == "boolean"
    elif isinstance(value, int):
        ok = shape.type_name in SCALARS["number"]
    elif isinstance(value, list):
        ok = shape.type_name == "list"
        for one in value if ok else []:
            check_value(shape.member, one, where)
    elif isinstance(value, dict):
        ok = shape.type_name == "structure"
        for name, one in value.items() if ok else []:
            if name not in shape.members:
                print(where, "has no member", name)
            else:
                check_value(shape.members[name], one, where + "." + name)
    elif value.startswith("is:"):
        ok = shape.type_name in SCALARS[value[3:]]
        if value == "is:list" and shape.type_name == "string":
            ok = True  # the name of a numbered parameter
    elif value.startswith("{"):
        ok = True
    else:
        ok = shape.type_name == "string"
        allowed = shape.metadata.get("enum", [])
        if ok and allowed and value not in allowed:
            print(where, "is not", repr(value), "but one of", allowed)
    if not ok:
        print(where, "is a", shape.type_name, "and not", repr(value))


def check(c, found):
    service, op = c["Op"].split(":")
    model = SESSION.get_service_model(NAMES.get(service, service))
    if op not in model.operation_names:
        print(c["Op"], "does not exist")
        return
    o = model.operation_model(op)
    protocol = FORMS.get(service, model.metadata["protocol"])
    if c["HTTP"]:
        method, path = c["HTTP"].split(" ")
        bare = re.sub(r"\{[^}]*\}", "{}", path.split("?")[0])
        want = re.sub(r"\{[^}]*\}", "{}", o.http["requestUri"].split("?")[0]).rstrip("/")
        if method != o.http["method"] or bare != want:
            print(c["Op"], "is", o.http, "and not", c["HTTP"])
        given = set(re.findall(r"[?&](\w+)=", path))
        known = {m.serialization.get("name") for m in o.input_shape.members.values()
                 if m.serialization.get("location") == "querystring"}
        for name in given - known:
            print(c["Op"], "has no parameter", name)
    params = set()
    for path, value in c["Params"].items():
        shape = form_param(o.input_shape, path, protocol) if protocol in ("query", "ec2") else None
        if protocol in ("query", "ec2") and shape is None and value == "is:list":
            shape = form_param(o.input_shape, path + ".1", protocol)
        if protocol not in ("query", "ec2"):
            shape = json_param(o.input_shape, path)
        if shape is None:
            print(c["Op"], "has no parameter", path)
            continue
        params.add(path.split(".")[0])
        check_value(shape, value, c["Op"] + " " + path)
    for name in o.input_shape.required_members if o.input_shape else []:
        member = o.input_shape.members[name]
        said = member.serialization.get("name", name)
        if protocol == "ec2":
            said = member.serialization.get("queryName") or said[0].upper() + said[1:]
        if member.serialization.get("location") != "uri" and said not in params and name not in params:
            print(c["Op"], "needs", name)
    for path in c["Paths"] or []:
        if path:
            shape = answer(o.output_shape, path, protocol)
            found.setdefault((c["Group"], path.split(".")[-1]), False)
            if shape is not None:
                found[(c["Group"], path.split(".")[-1])] = True


def main():
    found = {}
    for c in json.load(sys.stdin):
        check(c, found)
    for (group, path), there in found.items():
        if not there:
            print("no answer of", group, "has", path)


main()
