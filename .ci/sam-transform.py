"""Expand template.yaml as CloudFormation's SAM transform does; fail where it would.

Prints the expanded template, so that `.ci/sam-transform.py template.yaml` also shows what SAM makes of it.
"""
import json
import sys

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ARTEFACT = "s3://bucket/key"


def packaged(template):
    """The template with local folders replaced by uploaded ones, as `sam package` leaves it."""
    for resource in template["Resources"].values():
        for field in ("CodeUri", "DefinitionUri"):
            if field in resource.get("Properties", {}):
                resource["Properties"][field] = ARTEFACT
    return template


def main(path):
    with open(path) as f:
        template = yaml_parse(f.read())
    translator = Translator(managed_policy_map=None, sam_parser=Parser())
    values = {"Stage": "dev", "AWS::Region": "eu-west-1", "AWS::Partition": "aws", "AWS::AccountId": "123456789012"}
    expanded = translator.translate(
        sam_template=packaged(template),
        parameter_values=values,
        get_managed_policy_map=lambda: {},
    )
    json.dump(expanded, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1])
