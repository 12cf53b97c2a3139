"""The official Python client against the API server named by $KUBECONFIG: each step prints "ok STEP" or ends the program."""

import datetime
import os
import sys
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "default"

config.load_kube_config(os.environ["KUBECONFIG"])
core = client.CoreV1Api()
apps = client.AppsV1Api()


def until(what, check):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.05)
    raise AssertionError(what)


def config_map(name, data=None):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"part": "python"}), data=data or {"k": "v"})


def refused(code, call, *args, **named):
    try:
        call(*args, **named)
    except ApiException as error:
        assert error.status == code, error
        return error
    raise AssertionError(f"no {code}")


def reads_and_writes():
    assert client.VersionApi().get_code().minor == "36"
    made = core.create_namespaced_config_map(NAMESPACE, config_map("a"))
    assert isinstance(made.metadata.creation_timestamp, datetime.datetime)
    refused(409, core.create_namespaced_config_map, NAMESPACE, config_map("a"))
    patched = core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"j": "1"}})
    assert patched.data == {"k": "v", "j": "1"}, patched.data
    refused(409, core.replace_namespaced_config_map, "a", NAMESPACE, made)
    core.delete_namespaced_config_map("a", NAMESPACE)
    refused(404, core.read_namespaced_config_map, "a", NAMESPACE)
    invalid = refused(422, core.create_namespaced_config_map, NAMESPACE, config_map("Bad_Name"))
    assert "metadata.name" in invalid.body


def pages():
    for name in ("l1", "l2", "l3"):
        core.create_namespaced_config_map(NAMESPACE, config_map(name))
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="part=python", limit=2, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == ["l1", "l2", "l3"], names


def watches():
    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, config_map("w"))
    core.patch_namespaced_config_map("w", NAMESPACE, {"data": {"k": "x"}})
    core.delete_namespaced_config_map("w", NAMESPACE)
    seen = []
    stream = watch.Watch()
    for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=20):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            stream.stop()
    assert seen == [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")], seen


def deployments():
    labels = {"app": "web"}
    container = {"name": "web", "image": "registry.example/web:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    utils.create_from_dict(client.ApiClient(), manifest, namespace=NAMESPACE)
    until("available", lambda: apps.read_namespaced_deployment("web", NAMESPACE).status.available_replicas == 2)
    apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 1}})
    until("scaled", lambda: len(core.list_namespaced_pod(NAMESPACE, label_selector="app=web").items) == 1)
    pod = core.list_namespaced_pod(NAMESPACE, label_selector="app=web").items[0].metadata.name
    until("logged", lambda: "web of pod" in core.read_namespaced_pod_log(pod, NAMESPACE))
    apps.delete_namespaced_deployment("web", NAMESPACE, propagation_policy="Foreground")
    until("gone", lambda: not core.list_namespaced_pod(NAMESPACE, label_selector="app=web").items)


def anything():
    known = dynamic.DynamicClient(client.ApiClient())
    maps = known.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "any"}, "data": {"a": "1"}}
    maps.server_side_apply(body=body, namespace=NAMESPACE, field_manager="python")
    body["data"] = {"b": "2"}
    applied = maps.server_side_apply(body=body, namespace=NAMESPACE, field_manager="python")
    assert applied.data.to_dict() == {"b": "2"}, applied
    maps.delete(name="any", namespace=NAMESPACE)


STEPS = {
    "reads and writes": reads_and_writes,
    "lists in pages": pages,
    "watches": watches,
    "runs a Deployment": deployments,
    "finds and applies any kind": anything,
}

for step, run in STEPS.items():
    try:
        run()
    except Exception as error:  # the test prints it
        print(f"failed {step}: {error!r}")
        sys.exit(1)
    print(f"ok {step}")
