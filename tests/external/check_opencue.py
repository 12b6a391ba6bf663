"""Reads the job that `cullet jobs --for opencue` wrote: order of elements as cjsl-1.12.dtd has it, layers, commands, dependencies.

check_opencue.py JOB STORE. The job has simulate, reconstruct of the frames 1 to 5 in chunks of 2, and two exports.
"""

import shlex
import sys
import xml.etree.ElementTree as ElementTree

# Children of each element in their order, as far as jobs of cullet have them: `?` may be absent, `+` comes once or more.
MODEL = {
    "spec": ["facility?", "show", "shot", "user", "job+", "depends?"],
    "job": ["paused?", "maxretries?", "autoeat?", "env?", "layers"],
    "layers": ["layer+"],
    "layer": ["cmd", "range", "chunk", "cores?", "env?", "services?"],
    "services": ["service+"],
    "depends": ["depend+"],
    "depend": ["depjob", "deplayer?", "onjob", "onlayer?"],
}


def check_order(element):
    names = [child.tag for child in element]
    for allowed in MODEL.get(element.tag, []):
        name, often = allowed.rstrip("?+"), allowed[-1]
        count = 0
        while names and names[0] == name and (count == 0 or often == "+"):
            names.pop(0)
            count += 1
        assert count or often == "?", f"<{element.tag}> lacks <{name}> where it belongs"
    assert not names, f"<{element.tag}> has <{names[0]}> too much"
    for child in element:
        check_order(child)


def main():
    job, store = sys.argv[1:]
    root = ElementTree.parse(job).getroot()
    check_order(root)
    layers = {layer.get("name"): layer for layer in root.iter("layer")}
    assert list(layers) == ["simulate", "reconstruct", "export_usd", "export_usd_elements"], list(layers)
    for layer in layers.values():
        words = shlex.split(layer.findtext("cmd"))
        assert words[:5] == ["cullet", "--progress", "percent", "--threads", "2"], words
        assert words[6] == store, f"{words[6]} is not {store}"
        assert layer.findtext("cores") == "2.0"
    split = layers["reconstruct"]
    assert (split.findtext("range"), split.findtext("chunk")) == ("1-5", "2")
    assert shlex.split(split.findtext("cmd"))[-2:] == ["--frames", "#FRAME_START#-#FRAME_END#"]
    pairs = [(depend.findtext("deplayer"), depend.findtext("onlayer")) for depend in root.iter("depend")]
    assert pairs == [
        ("reconstruct", "simulate"),
        ("export_usd", "reconstruct"),
        ("export_usd_elements", "reconstruct"),
    ], pairs
    print(f"{len(layers)} layers, {len(pairs)} dependencies")


main()
