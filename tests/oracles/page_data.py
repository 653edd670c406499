"""What is in an HTML report, read as its script reads it: answers of commands, and cells."""

import base64
import json
import re
import zlib

DATA = re.compile(rb'<script type="application/json" id="data">(.*?)</script>', re.S)


def inflated(text):
    return zlib.decompress(base64.b64decode(text), -15)


def opened(data):
    """The data of a page with its documents and cells instead of what they are packed into. Only the page
    of a report has cells; those of older programs, which comparisons of revisions read, have all in the open."""
    if data.get("schema") != "etlheap-page-1":
        return data
    return {**data, "cells": json.loads(inflated(data["cells"])) if "cells" in data else None,
            "documents": [{**{key: value for key, value in one.items() if key != "deflated"},
                           "document": json.loads(inflated(one["deflated"]))} for one in data["documents"]]}


def read_page(path):
    with open(path, "rb") as file:
        found = DATA.findall(file.read())
    assert len(found) == 1, f"{len(found)} data"
    return opened(json.loads(found[0]))
