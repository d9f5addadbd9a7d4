#!/usr/bin/env python3
"""Draws one call tree of a callgrind file as a flame graph.

usage: flamegraph.py CALLGRIND_FILE FUNCTION CALLS > FILE.svg

Callgrind knows who calls whom and at what cost, and no stacks: what a function costs that several call is shared out
among them by the cost of their calls. CALLS is how often FUNCTION was called.
"""
import re
import sys
from collections import defaultdict
from html import escape

WIDTH, ROW, LEAST = 1000.0, 18, 0.004


def parse(path):
    """Own cost of each function, and the inclusive cost of each edge."""
    own, edges = defaultdict(int), defaultdict(int)
    names = {}

    def name(text):
        number, _, spelt = text.partition(" ")
        if spelt:
            names[number] = spelt
        return names.get(number, number)

    function = callee = None
    after_call = False
    for line in open(path, encoding="utf-8", errors="replace"):
        line = line.rstrip("\n")
        key, equals, value = line.partition("=")
        if equals and key == "fn":
            function = name(value)
        elif equals and key == "cfn":
            callee = name(value)
        elif equals and key == "calls":
            after_call = True
        elif function and re.match(r"^[+\-*\d]", line):
            fields = line.split()
            cost = int(fields[1]) if len(fields) > 1 else 0
            if after_call:
                edges[function, callee] += cost
                after_call = False
            else:
                own[function] += cost
    return own, edges


def short(function):
    function = re.sub(r"'\d+$", "", function)
    function = re.sub(r"<impl ([^>]*)>", r"\1", function)
    return "::".join(part for part in function.split("::")[-2:])


def main():
    path, root, calls = sys.argv[1], sys.argv[2], float(sys.argv[3])
    own, edges = parse(path)
    callees, inclusive = defaultdict(list), defaultdict(int)
    for (caller, callee), cost in edges.items():
        if caller != callee:
            callees[caller].append((callee, cost))
            inclusive[callee] += cost
    total = own[root] + sum(cost for _, cost in callees[root])
    boxes, deepest = [], 0

    def place(function, x, width, depth, open_functions):
        nonlocal deepest
        if width / WIDTH < LEAST or function in open_functions:
            return
        deepest = max(deepest, depth)
        boxes.append((function, x, width, depth))
        all_of_it = own[function] + sum(cost for _, cost in callees[function])
        for callee, cost in sorted(callees[function], key=lambda edge: -edge[1]):
            part = width * cost / max(all_of_it, 1)
            place(callee, x, part, depth + 1, open_functions | {function})
            x += part

    place(root, 0.0, WIDTH, 0, frozenset())
    height = (deepest + 1) * ROW + 24
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height}" font-family="monospace">')
    print(f'<text x="2" y="14" font-size="12">{escape(root)}: {total / calls:.0f} instructions a call</text>')
    for function, x, width, depth in boxes:
        count = total / calls * width / WIDTH
        y, hue = height - (depth + 1) * ROW, 20 + hash_of(function) % 35
        label = short(function)[: int(width / 6.2)] if width > 20 else ""
        print(
            f'<g><title>{escape(function)}: {count:.0f}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{ROW - 1}" fill="hsl({hue},80%,65%)"/><text x="{x + 2:.1f}" y="{y + 12}" font-size="10">'
            f"{escape(label)}</text></g>"
        )
    print("</svg>")


def hash_of(text):
    """The same in every run, unlike Python's own."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) % 65521
    return value


main()
