"""Expand a template as CloudFormation's SAM transform does; fail where it would, and where the door is not what it must be.

Prints the expanded template, so that `.ci/sam-transform.py template.yaml` also shows what SAM makes of it. Several templates are
printed one after the other.
"""
import json
import sys

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

UPLOADED = {
    "CodeUri": "s3://bucket/key",
    "DefinitionUri": "s3://bucket/key",
    "TemplateURL": "https://s3.amazonaws.com/bucket/key",
}


def packaged(template):
    """The template with local paths replaced by uploaded ones, as `sam package` leaves it."""
    for resource in template["Resources"].values():
        for field in set(UPLOADED) & set(resource.get("Properties", {})):
            resource["Properties"][field] = UPLOADED[field]
    return template


def check_door(api):
    """The authorizer sees the whole request, and API Gateway remembers no answer of it."""
    door = api["Properties"]["Body"]["components"]["securitySchemes"]["Bearer"]["x-amazon-apigateway-authorizer"]
    want = {"type": "request", "identitySource": "method.request.header.Authorization", "authorizerResultTtlInSeconds": 0}
    got = {key: door.get(key) for key in want}
    if got != want:
        sys.exit(f"SAM makes of the authorizer {got}, where {want} is wanted")


def expand(path):
    """What SAM makes of the template at a path."""
    with open(path) as f:
        template = yaml_parse(f.read())
    translator = Translator(managed_policy_map=None, sam_parser=Parser())
    values = {"Stage": "dev", "AWS::Region": "eu-west-1", "AWS::Partition": "aws", "AWS::AccountId": "123456789012"}
    expanded = translator.translate(
        sam_template=packaged(template),
        parameter_values=values,
        get_managed_policy_map=lambda: {},
    )
    for resource in expanded["Resources"].values():
        if resource["Type"] == "AWS::ApiGateway::RestApi":
            check_door(resource)
    return expanded


def main(paths):
    for path in paths:
        json.dump(expand(path), sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
