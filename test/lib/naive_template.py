"""A second evaluation of CloudFormation templates, for comparison with the server's: as plain as it
can be, without bounds, and written without looking at the first. And templates made at random.
"""

import base64
import hashlib
import json
import re

NO_VALUE = object()


class Template:
    """A template, evaluated with the defaults of its parameters."""

    def __init__(self, document, stack, region="us-east-1", account="000000000000"):
        self.document = document
        self.pseudo = {
            "AWS::AccountId": account, "AWS::Region": region, "AWS::Partition": "aws",
            "AWS::StackName": stack, "AWS::URLSuffix": "amazonaws.com", "AWS::NotificationARNs": [],
            "AWS::StackId": f"arn:aws:cloudformation:{region}:{account}:stack/{stack}/0",
            "AWS::NoValue": NO_VALUE,
        }
        self.region, self.account, self.stack = region, account, stack

    def parameter(self, name):
        declared = self.document["Parameters"][name]
        value = str(declared["Default"])
        if declared["Type"] in ("CommaDelimitedList", "List<Number>"):
            return [part.strip(" \t") for part in value.split(",")] if value else []
        return value

    def condition(self, name):
        return self.truth(self.document["Conditions"][name])

    def truth(self, node):
        (function, argument), = node.items()
        if function == "Condition":
            return self.condition(argument)
        if function == "Fn::Not":
            return not self.truth(argument[0])
        if function == "Fn::And":
            return all([self.truth(one) for one in argument])
        if function == "Fn::Or":
            return any([self.truth(one) for one in argument])
        left, right = [self.value(one) for one in argument]
        return text(left) == text(right) if not isinstance(left, list) else left == right

    def exists(self, name):
        condition = self.document["Resources"][name].get("Condition")
        return condition is None or self.condition(condition)

    def name(self, logical_id):
        resource = self.document["Resources"][logical_id]
        if not resource["Type"].startswith("AWS::DynamoDB::"):
            return logical_id
        own = self.value(resource["Properties"].get("TableName", {"Ref": "AWS::NoValue"}))
        if own is not NO_VALUE:
            return text(own)
        digest = hashlib.md5(f"{self.stack}\n{logical_id}\n".encode()).digest()
        letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return f"{self.stack}-{logical_id}-" + "".join(letters[byte % 36] for byte in digest[:13])

    def ref(self, name):
        if name in self.document.get("Parameters", {}):
            return self.parameter(name)
        return self.pseudo[name] if name in self.pseudo else self.name(name)

    def attribute(self, logical_id, name):
        if self.document["Resources"][logical_id]["Type"].startswith("AWS::DynamoDB::"):
            return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{self.name(logical_id)}"
        return f"{logical_id}.{name}"

    def substitute(self, pattern, variables):
        def replace(match):
            name = match[1]
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            if name in variables:
                return text(self.value(variables[name]))
            if "." in name:
                return self.attribute(*name.split(".", 1))
            return text(self.ref(name))

        return re.sub(r"\$\{([^}]*)\}", replace, pattern)

    def value(self, node):
        if isinstance(node, list):
            values = [self.value(one) for one in node]
            return [one for one in values if one is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            (function, argument), = node.items()
            if function == "Ref" or function.startswith("Fn::"):
                return getattr(self, "do_" + function.replace("Fn::", "").lower())(argument)
        values = {name: self.value(one) for name, one in node.items()}
        return {name: one for name, one in values.items() if one is not NO_VALUE}

    def do_ref(self, argument):
        return self.ref(argument)

    def do_getatt(self, argument):
        return self.attribute(*(argument.split(".", 1) if isinstance(argument, str) else argument))

    def do_sub(self, argument):
        return self.substitute(*argument) if isinstance(argument, list) else self.substitute(argument, {})

    def do_join(self, argument):
        return argument[0].join(text(one) for one in self.value(argument[1]))

    def do_split(self, argument):
        return text(self.value(argument[1])).split(argument[0])

    def do_select(self, argument):
        return self.value(argument[1])[int(text(self.value(argument[0])))]

    def do_if(self, argument):
        return self.value(argument[1] if self.condition(argument[0]) else argument[2])

    def do_findinmap(self, argument):
        keys = [text(self.value(one)) for one in argument[:3]]
        try:
            return self.document["Mappings"][keys[0]][keys[1]][keys[2]]
        except KeyError:
            return self.value(argument[3]["DefaultValue"])

    def do_base64(self, argument):
        return base64.b64encode(text(self.value(argument)).encode()).decode()

    def do_getazs(self, argument):
        region = text(self.value(argument)) or self.region
        return [region + zone for zone in "abc"]

    def do_length(self, argument):
        return len(self.value(argument))

    def do_tojsonstring(self, argument):
        return json.dumps(self.value(argument), separators=(",", ":"), ensure_ascii=False)

    def outputs(self):
        shown = {}
        for name, output in self.document.get("Outputs", {}).items():
            if "Condition" not in output or self.condition(output["Condition"]):
                value = self.value(output["Value"])
                shown[name] = ",".join(map(text, value)) if isinstance(value, list) else text(value)
        return shown


def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


# --- Templates made at random ---

WORDS = ["", "a", "b-c", "x,y", "Grüße", "12", "true", "$", "[]", "a.b", "tab\there", '"quoted"', "  "]


class Maker:
    """Makes templates that are valid, so that both evaluations must give a result."""

    def __init__(self, rng):
        self.rng = rng

    def template(self):
        rng = self.rng
        self.document = {
            "Transform": ["AWS::LanguageExtensions"],
            "Parameters": {
                "Text": {"Type": "String", "Default": rng.choice(WORDS)},
                "Number": {"Type": "Number", "Default": rng.choice([0, 1, "2", 1.5])},
                "Few": {"Type": "CommaDelimitedList", "Default": rng.choice(["a", "a, b ,c", "x,,y", "1,2"])},
            },
            "Mappings": {"Map": {"a": {"k": "v", "list": ["p", "q"]}, "b": {"k": 7, "list": ["r"]}}},
            "Conditions": {},
            "Resources": {},
            "Outputs": {},
        }
        self.conditions = []
        self.tables = []
        for number in range(rng.randint(1, 4)):
            self.document["Conditions"][f"C{number}"] = self.truth(2)
            self.conditions.append(f"C{number}")
        self.document["Resources"]["Role"] = {"Type": "AWS::IAM::Role"}
        for number in range(rng.randint(1, 3)):
            self.add_table(f"T{number}")
        for number in range(rng.randint(4, 10)):
            output = {"Value": self.text(3) if rng.random() < 0.8 else self.texts(2)}
            if rng.random() < 0.2:
                output["Condition"] = rng.choice(self.conditions)
            self.document["Outputs"][f"O{number}"] = output
        return self.document

    def add_table(self, name):
        rng = self.rng
        resource = {"Type": "AWS::DynamoDB::Table", "Properties": {
            "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
            "BillingMode": {"Fn::If": [rng.choice(self.conditions), "PROVISIONED", "PAY_PER_REQUEST"]},
            "ProvisionedThroughput": {"Fn::If": [rng.choice(self.conditions), {
                "ReadCapacityUnits": rng.choice([5, "5", {"Fn::Length": {"Ref": "Few"}}]), "WriteCapacityUnits": 1,
            }, {"Ref": "AWS::NoValue"}]},
            "DeletionProtectionEnabled": rng.choice([True, "false", {"Fn::If": [rng.choice(self.conditions), "true", "false"]}]),
            "Tags": [{"Key": f"t{number}", "Value": self.text(3)} for number in range(rng.randint(0, 3))],
        }}
        if rng.random() < 0.6:
            resource["Properties"]["TableName"] = {"Fn::Join": ["-", [
                {"Ref": "AWS::StackName"}, name, *([{"Ref": rng.choice(self.tables)}] if self.tables else [])]]}
        if self.tables and rng.random() < 0.3:
            resource["DependsOn"] = rng.choice([rng.choice(self.tables), [rng.choice(self.tables), "Role"]])
        self.document["Resources"][name] = resource
        self.tables.append(name)

    def truth(self, depth):
        rng = self.rng
        kind = rng.randrange(5) if depth > 0 else 0
        if kind == 1:
            return {"Fn::Not": [self.truth(depth - 1)]}
        if kind in (2, 3):
            some = [self.truth(depth - 1) for _ in range(rng.randint(2, 3))]
            return {"Fn::And" if kind == 2 else "Fn::Or": some}
        if kind == 4 and self.conditions:
            return {"Condition": rng.choice(self.conditions)}
        sides = [rng.choice([{"Ref": "Text"}, {"Ref": "Number"}, "a", "0", {"Fn::Select": [0, {"Ref": "Few"}]},
                             {"Fn::FindInMap": ["Map", "a", "k"]}, {"Ref": "AWS::Region"}]) for _ in range(2)]
        return {"Fn::Equals": sides}

    def text(self, depth):
        rng = self.rng
        kind = rng.randrange(12) if depth > 0 else rng.randrange(3)
        if kind == 0:
            return rng.choice(WORDS)
        if kind == 1:
            return {"Ref": rng.choice(["Text", "Number", "AWS::Region", "AWS::AccountId", "AWS::StackName",
                                       "AWS::Partition", "AWS::URLSuffix", "AWS::StackId", *self.tables])}
        if kind == 2:
            return {"Fn::GetAtt": [rng.choice(self.tables), "Arn"]} if self.tables else "none"
        if kind in (3, 4):
            return {"Fn::Join": [rng.choice(["", ",", "-", "é"]), self.texts(depth - 1)]}
        if kind == 5:
            return {"Fn::Select": [rng.choice([0, "0"]), [self.text(depth - 1), self.text(0)]]}
        if kind == 6:
            return {"Fn::If": [rng.choice(self.conditions), self.text(depth - 1), self.text(depth - 1)]}
        if kind in (7, 8):
            return self.sub(depth)
        if kind == 9:
            return {"Fn::Base64": self.text(depth - 1)}
        if kind == 10:
            return rng.choice([
                {"Fn::FindInMap": ["Map", rng.choice(["a", "b", {"Fn::Select": [0, ["a", "b"]]}]), "k"]},
                {"Fn::FindInMap": ["Map", "none", "k", {"DefaultValue": self.text(depth - 1)}]},
            ])
        return {"Fn::ToJsonString": rng.choice([{"x": self.text(depth - 1)}, self.texts(depth - 1)])}

    def sub(self, depth):
        rng = self.rng
        names = ["Text", "AWS::Region", *self.tables, *[f"{name}.Arn" for name in self.tables], "!literal"]
        pieces = ["${" + rng.choice(names) + "}" if rng.random() < 0.5 else rng.choice(WORDS)
                  for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.4:
            return {"Fn::Sub": ["".join([*pieces, "${own}"]), {"own": self.text(depth - 1)}]}
        return {"Fn::Sub": "".join(pieces)}

    def texts(self, depth):
        rng = self.rng
        kind = rng.randrange(6) if depth > 0 else 0
        if kind == 1:
            return {"Ref": "Few"}
        if kind == 2:
            return {"Fn::Split": [rng.choice([",", "-", "a"]), self.text(depth - 1)]}
        if kind == 3:
            return {"Fn::FindInMap": ["Map", rng.choice(["a", "b"]), "list"]}
        if kind == 4:
            return {"Fn::GetAZs": rng.choice(["", {"Ref": "AWS::Region"}])}
        some = [self.text(depth - 1) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.2:
            some.append({"Ref": "AWS::NoValue"})
        return some


def yaml(node):
    """YAML in flow style, with short tags."""
    if isinstance(node, dict):
        if len(node) == 1:
            (function, argument), = node.items()
            if function == "Fn::GetAtt":
                return "!GetAtt " + ".".join(argument)
            if function in ("Ref", "Condition") and isinstance(argument, str):
                return f"!{function} {json.dumps(argument)}"
            if function.startswith("Fn::") and not isinstance(argument, dict):
                return f"!{function[4:]} {yaml(argument)}"
        return "{" + ", ".join(f"{json.dumps(name)}: {yaml(value)}" for name, value in node.items()) + "}"
    if isinstance(node, list):
        return "[" + ", ".join(map(yaml, node)) + "]"
    return json.dumps(node, ensure_ascii=False)


def yaml_document(document):
    return "".join(
        f"{section}:\n" + "".join(f"  {name}: {yaml(value)}\n" for name, value in content.items())
        if isinstance(content, dict) else f"{section}: {yaml(content)}\n"
        for section, content in document.items() if content
    )
