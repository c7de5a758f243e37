#!/usr/bin/env -S python3 -B
"""Draws panels of dashboard.json with data of a real Prometheus: deploy/monitoring/picture.py <server> <picture>

It sends traffic to a server for a minute and draws what Grafana would show of the rows in ROWS.
"""

import json
import random
import re
import socket
import sys
import time

import matplotlib.pyplot as plt
from stack import OPS, Stack

ROWS = ["Now", "Decisions by algorithm", "Keys that are denied most (RL.TOP)"]
SECONDS = 60
UNITS = {"reqps": "{:,.4g} req/s", "percentunit": "{:.1%}"}
# One colour for each algorithm and outcome, in all panels.
COLOURS = {
    **dict(zip(["token", "counter", "rolling", "fixed", "window"], ["#5b9bd0", "#b58be0", "#3cb7a4", "#d9b440", "#c78a5b"])),
    **{"allowed": "#73bf69", "near": "#d9b440", "denied": "#f2812f", "errors": "#f2495c"},
}
STATS = {"Denied": "denied", "Errors": "errors"}


def traffic(port):
    """Requests of many users, and for the middle third of the time of one caller that floods."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while (at := time.monotonic() - begin) < SECONDS:
            calls = []
            for _ in range(random.randrange(30, 60)):
                user = min(int(random.paretovariate(0.5)), 900)
                calls.append(f"RL.TOKEN api:{user} 10s 200")
                calls.append(f"RL.COUNTER tokens:{user} 10s 90000 COST {random.randrange(900)}")
            for user in random.sample(range(1, 30), 8):
                calls.append(f"RL.MULTI 2 ROLLING {{{user}}}:login 5s 15 FIXED {{{user}}}:day day 1000000")
                calls.append(f"RL.WINDOW plan:{user} 30s 70 SHADOW")
            if SECONDS / 3 < at < SECONDS * 2 / 3:
                calls += ["RL.TOKEN api:203.0.113.7 10s 200"] * 40
            if random.random() < 0.1:
                calls.append("RL.TOKEN api:1 10s ten")
            connection.sendall(("\r\n".join(calls) + "\r\n").encode())
            time.sleep(0.1)
            connection.recv(1 << 24)


def shown(panel, value):
    return UNITS.get(panel["fieldConfig"]["defaults"].get("unit"), "{:.0f}").format(value)


def draw(axes, panel, ask):
    """One panel. `ask` has the series of an expression: their labels and points."""
    found = []
    for target in panel["targets"]:
        for labels, points in ask(target["expr"], panel["type"] == "timeseries"):
            name = re.sub(r"{{(\w+)}}", lambda label: labels.get(label[1], ""), target["legendFormat"])
            found.append((name, labels, [(float(at), float(value)) for at, value in points]))
    axes.set_title(panel["title"], loc="left", fontsize=8)
    if panel["type"] == "timeseries":
        # The largest, and none that is always 0, so that the legend has room.
        found = [(name, dict(points)) for name, _, points in found if any(value for _, value in points)]
        found = sorted(found, key=lambda series: -max(series[1].values()))[:10]
        times = sorted({at for _, points in found for at in points})
        below = [0.0] * len(times)
        for number, (name, points) in enumerate(found):
            colour = COLOURS["errors"] if panel["title"] == "Errors" else COLOURS.get(name, f"C{number}")
            values = [points.get(at, 0.0) + least for at, least in zip(times, below)]
            axes.plot(times, values, label=name, linewidth=1, color=colour)
            if panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal":
                axes.fill_between(times, below, values, alpha=0.2, color=colour)
                below = values
        marks = [at for at in times if at % 10 == 0]
        axes.set_xticks(marks, [time.strftime("%H:%M:%S", time.gmtime(at)) for at in marks])
        axes.set_ylim(bottom=0)
        axes.set_ylabel("requests a second", fontsize=7)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.grid(color="#2c3235", linewidth=0.5)
        axes.legend(fontsize=7, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.08), frameon=False)
        return
    axes.axis("off")
    if panel["type"] == "table":
        cells = [[labels["key"], labels["algorithm"], shown(panel, points[-1][1])] for _, labels, points in found[:9]]
        axes.table(cells, colLabels=["key", "algorithm", "denied"], loc="upper center", edges="open", cellLoc="left")
        return
    text = "\n".join(f"{name}\n{shown(panel, points[-1][1])}".strip() for name, _, points in found)
    colour = COLOURS.get(STATS.get(panel["title"]), "#d8d9da")
    axes.text(0.5, 0.4, text or "No data", ha="center", va="center", fontsize=11, color=colour)


def main():
    plt.style.use("dark_background")
    plt.rcParams.update({"figure.facecolor": "#111217", "axes.facecolor": "#181b1f", "xtick.labelsize": 7, "ytick.labelsize": 7})
    rows = {}
    for panel in json.loads((OPS / "dashboard.json").read_text())["panels"]:
        if panel["type"] == "row":
            rows[panel["title"]] = panels = []
        else:
            panels.append(panel)
    begins = {row: rows[row][0]["gridPos"]["y"] for row in ROWS}
    heights = {row: max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in rows[row]) - begins[row] for row in ROWS}
    height = sum(heights.values()) + len(ROWS) + 1
    with Stack([(sys.argv[1], True)]) as stack:
        traffic(stack.servers[0][2])
        end = time.time()

        def ask(expression, over_time):
            expression = expression.replace("$__rate_interval", "5s").replace("$instance", ".*")
            # Whole seconds, so that the marks of the time are points.
            last = int(end)
            span = {"start": last - SECONDS + 5, "end": last, "step": 1} if over_time else {"time": end}
            result = stack.api("query_range" if over_time else "query", query=expression, **span)["result"]
            return [(series["metric"], series["values"] if over_time else [series["value"]]) for series in result]

        figure = plt.figure(figsize=(12, height / 3.4))
        top = 0
        for row in ROWS:
            figure.text(0.01, 1 - (top + 0.7) / height, row, fontsize=10, weight="bold")
            top += 1
            for panel in rows[row]:
                at = panel["gridPos"]
                y = top + at["y"] - begins[row]
                # With room for the title, the legend and the figures. Grafana's grid has 24 columns.
                bottom, inner = 1 - (y + at["h"] - 1.6) / height, (at["h"] - 2.6) / height
                draw(figure.add_axes(((at["x"] + 1.2) / 24, bottom, (at["w"] - 1.6) / 24, inner)), panel, ask)
            top += heights[row]
        figure.savefig(sys.argv[2], dpi=84)


if __name__ == "__main__":
    main()
