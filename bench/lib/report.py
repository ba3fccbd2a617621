# SPDX-License-Identifier: BSD-2-Clause
"""Rows of figures beside their limits, printed as a table a subject and kept for JSON."""


def row(what, jdk, value, unit, limit=None, spread=None, note=""):
    """One figure. value None: not measured. spread: (lower quartile, upper quartile). A limit is an upper one."""
    verdict = ""
    if limit is not None and value is not None:
        verdict = "met" if value <= limit else "missed"
        if spread and spread[0] <= limit <= spread[1]:
            note = (note + ", " if note else "") + "limit lies within the quartiles"
    return {"what": what, "jdk": jdk, "value": value, "unit": unit, "limit": limit, "q1": spread[0] if spread else None,
            "q3": spread[1] if spread else None, "verdict": verdict, "note": note}


def number(value, unit):
    """A figure as text: ratios with three decimals, others with as many as three digits need."""
    if value is None:
        return "-"
    if unit == "ratio":
        return "%.3f" % value
    magnitude = abs(value)
    return "%.*f" % (0 if magnitude >= 100 else 1 if magnitude >= 10 else 2, value)


def print_table(title, rows):
    """Prints the rows under the title."""
    head = ("", "JDK", "figure", "quartiles", "limit", "", "")
    lines = [head]
    for r in rows:
        unit = "" if r["unit"] == "ratio" else " " + r["unit"]
        spread = "" if r["q1"] is None else "%s..%s" % (number(r["q1"], r["unit"]), number(r["q3"], r["unit"]))
        limit = "" if r["limit"] is None else "<= " + number(r["limit"], r["unit"])
        lines.append((r["what"], r["jdk"] or "", number(r["value"], r["unit"]) + unit, spread, limit, r["verdict"], r["note"]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    print("\n== %s ==" % title)
    for line in lines:
        left = line[0].ljust(widths[0])
        middle = "  ".join(line[i].rjust(widths[i]) for i in range(1, 6))
        print(("%s  %s  %s" % (left, middle, line[6])).rstrip(), flush=True)
