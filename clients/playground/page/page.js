// Sends the same requests to every algorithm, and shows what each of them replies.

const MOST_MARKS = 120;

const $ = (id) => document.getElementById(id);
const rows = new Map();
let chosen = "TOKEN";
let key;
let timer;

/** Each page counts by itself, and begins anew when it is cleared. */
function clear() {
  key = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16)).join("");
  for (const row of rows.values()) {
    Object.assign(row, { allowed: 0, denied: 0, command: "None yet.", headers: {} });
    row.marks.replaceChildren();
    show(row);
  }
}

function show(row) {
  row.counts.textContent = `${row.allowed} allowed, ${row.denied} denied`;
  row.name.setAttribute("aria-pressed", String(row.algorithm === chosen));
  if (row.algorithm !== chosen) return;
  $("summary").textContent = row.summary;
  $("command").textContent = row.command;
  $("headers").textContent = Object.entries(row.headers).map((header) => header.join(": ")).join("\n") || "None yet.";
}

function choose(algorithm) {
  chosen = algorithm;
  for (const row of rows.values()) show(row);
}

/** The numbers of the form; undefined if one is wrong, which the page then says. */
function settings() {
  const inputs = [...document.querySelectorAll("input[type=number]")];
  const wrong = inputs.find((input) => !input.checkValidity());
  const name = wrong?.closest("label").firstChild.textContent.trim();
  $("problem").textContent = wrong ? `${name}: expected an integer from ${wrong.min} to ${wrong.max}` : "";
  if (!wrong) return Object.fromEntries(inputs.filter(({ value }) => value).map(({ id, value }) => [id, Number(value)]));
}

async function send() {
  const check = settings();
  if (!check) return stop();
  try {
    const sentFor = key;
    const response = await fetch("/check", { method: "POST", body: JSON.stringify({ ...check, key }) });
    const found = await response.json();
    if (!response.ok) throw new Error(found.error);
    if (sentFor !== key) return;
    for (const [algorithm, { allowed, command, headers }] of Object.entries(found)) {
      const row = rows.get(algorithm);
      for (const each of allowed) {
        row[each ? "allowed" : "denied"] += 1;
        row.marks.append(Object.assign(document.createElement("i"), { className: each ? "yes" : "no" }));
      }
      row.marks.append(document.createElement("b")); // a gap: the next requests come later
      while (row.marks.childElementCount > MOST_MARKS) row.marks.firstChild.remove();
      show(Object.assign(row, { command, headers }));
    }
  } catch (error) {
    $("problem").textContent = error.message;
    stop();
  }
}

function start() {
  $("run").textContent = "Stop";
  timer = setInterval(send, 1000);
  send();
}

function stop() {
  clearInterval(timer);
  timer = undefined;
  $("run").textContent = "Start";
}

const algorithms = await (await fetch("/algorithms")).json();
for (const [algorithm, { summary }] of Object.entries(algorithms)) {
  const row = $("row").content.cloneNode(true).firstElementChild;
  const find = (selector) => row.querySelector(selector);
  const [name, counts, marks] = [find("button"), find(".counts"), find(".marks")];
  name.textContent = algorithm;
  name.addEventListener("click", () => choose(algorithm));
  $("rows").append(row);
  rows.set(algorithm, { algorithm, summary, name, counts, marks });
}
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
$("run").addEventListener("click", () => (timer ? stop() : start()));
$("once").addEventListener("click", send);
$("clear").addEventListener("click", clear);
for (const input of document.querySelectorAll("input")) input.addEventListener("change", settings);
clear();
start();
