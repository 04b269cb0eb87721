#!/usr/bin/env python3
"""Writes the schemas that kubeconform -strict compares manifests with: tools/cluster-schemas.py OUT SWAGGER CRD...

SWAGGER is Kubernetes' api/openapi-spec/swagger.json, each CRD a file with custom resource definitions. OUT gets a file for each
kind, KIND-GROUP-VERSION.json in small letters (KIND-VERSION.json of the core), in which unknown fields are refused, and crds.yaml.
"""

import json
import pathlib
import sys

import yaml

OPEN = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "additionalProperties")


def strict(schema, definitions, seen=()):
    """The schema without references, whose objects have no field that it does not name."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return {} if name in seen else strict(definitions[name], definitions, (*seen, name))
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return {"type": ["integer", "string"]}
    if schema.get("type") == "string" and schema.get("format") == "byte":
        return {"type": "string"}
    result = {key: schema[key] for key in ("type", "enum", "required", "minimum", "maximum", "minItems", "pattern") if key in schema}
    if "items" in schema:
        result["items"] = strict(schema["items"], definitions, seen)
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = strict(schema["additionalProperties"], definitions, seen)
    if "properties" in schema:
        result["properties"] = {name: strict(each, definitions, seen) for name, each in schema["properties"].items()}
        if not any(key in schema for key in OPEN):
            result["additionalProperties"] = False
    return result


def write(out, group, version, kind, schema):
    schema.setdefault("properties", {}).update({"apiVersion": {"type": "string"}, "kind": {"type": "string"}})
    if schema["properties"].get("metadata", {}) == {"type": "object"}:
        schema["properties"]["metadata"] = {"type": "object", "additionalProperties": True}
    name = "-".join(part for part in (kind.lower(), group.split(".")[0], version) if part)
    (out / f"{name}.json").write_text(json.dumps(schema))


def main(out, swagger, *crds):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    definitions = json.loads(pathlib.Path(swagger).read_text())["definitions"]
    for definition in definitions.values():
        for kind in definition.get("x-kubernetes-group-version-kind", []):
            if kind["kind"] in KINDS:
                write(out, kind["group"], kind["version"], kind["kind"], strict(definition, definitions))
    documents = [each for path in crds for each in yaml.safe_load_all(pathlib.Path(path).read_text()) if each]
    for document in documents:
        for version in document["spec"]["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"], {})
            write(out, document["spec"]["group"], version["name"], document["spec"]["names"]["kind"], schema)
    for document in documents:
        document["spec"].pop("conversion", None)  # by a webhook that nobody runs here
    (out / "crds.yaml").write_text("---\n".join(yaml.safe_dump(each) for each in documents))


KINDS = {
    "ConfigMap", "Deployment", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "Service", "ServiceAccount",
}

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
