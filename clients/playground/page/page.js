// Sends the same requests to the chosen algorithms, and draws what each of them replies.

const ALGORITHMS = {
  FIXED: "at most the limit in each window",
  WINDOW: "in each window, from the first request on",
  SLIDING: "in any window, exactly",
  ROLLING: "in any window, in a packed log",
  COUNTER: "in any window, estimated",
  TOKEN: "a burst, then the rate",
  LEAKY: "an even flow: requests are delayed",
  GCRA: "a burst, then the rate; one number",
  LEASE: "at most the limit at the same time",
  LOCKOUT: "attempts, then a lock that grows",
};
const AT_FIRST = ["FIXED", "WINDOW", "ROLLING", "COUNTER", "TOKEN", "LEAKY"];
const TAKES_BURST = ["TOKEN", "LEAKY", "GCRA"];
const HAS_WINDOWS = ["FIXED", "COUNTER"];
// Requests that have no reply yet, beyond which no more are sent.
const MOST_WAITING = 1000;
const MARK = 7; // the width of a mark, in CSS pixels
const GAP = 2;

const $ = (id) => document.getElementById(id);
const numbers = ["limit", "window", "burst", "work", "rate", "size", "every"].map($);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const rows = new Map();
let chosen = AT_FIRST[0];
let key = newKey();
let running = false;
let timer = 0;
let waiting = 0;
// Server's time minus this machine's, by the reply that came fastest.
let offset = -Infinity;

const serverNow = () => Date.now() + (offset === -Infinity ? 0 : offset);
const mode = () => document.querySelector("[name=mode]:checked").value;
const value = (id) => $(id).valueAsNumber;
const active = () => [...rows.values()].filter((row) => row.on);

// Each page counts by itself.
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

class Row {
  constructor(algorithm, about) {
    this.algorithm = algorithm;
    const label = document.createElement("label");
    this.box = document.createElement("input");
    this.box.type = "checkbox";
    this.box.checked = AT_FIRST.includes(algorithm);
    label.append(this.box, algorithm);
    $("algorithms").append(label);
    this.section = $("row").content.cloneNode(true).firstElementChild;
    this.name = this.section.querySelector(".name");
    this.name.textContent = algorithm;
    this.section.querySelector(".about").textContent = about;
    this.canvas = this.section.querySelector("canvas");
    $("rows").append(this.section);
    this.box.addEventListener("change", settingsChanged);
    this.name.addEventListener("click", () => choose(algorithm));
    this.clear();
  }

  get on() { return this.box.checked; }

  clear() {
    this.marks = [];
    this.allowed = this.denied = 0;
    this.last = null;
    this.command = null;
    this.replies = { allowed: null, denied: null };
    this.showCounts();
    this.describe();
  }

  async send(check, sentFor) {
    let response, body;
    try {
      response = await fetch("/api/check", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(check),
      });
      body = await response.json();
    } catch {
      return fail("The playground does not reply. Is it still running?");
    }
    if (sentFor !== key) return; // cleared meanwhile
    if (response.status !== 200 && response.status !== 429) return fail(body.error, body.field);
    this.record(response, body);
  }

  record(response, body) {
    offset = Math.max(offset, body.now_ms - Date.now());
    const kind = !body.allowed ? "no" : body.delay_ms > 0 ? "later" : "yes";
    this.marks.push({ at: body.now_ms + body.delay_ms, kind });
    if (body.allowed) this.allowed += 1; else this.denied += 1;
    this.command = body.command;
    if (!this.last || body.now_ms >= this.last.now_ms) this.last = body;
    this.replies[body.allowed ? "allowed" : "denied"] = {
      status: `HTTP/1.1 ${response.status} ${response.statusText}`,
      headers: [...response.headers].filter(([name]) => name !== "content-length" && name !== "cache-control"),
    };
    if (this.algorithm === chosen) showReplies();
    this.showCounts();
  }

  showCounts() {
    const show = (name, text) => {
      const cell = this.section.querySelector(`[data-count=${name}]`);
      if (cell.textContent !== text) cell.textContent = text;
    };
    show("allowed", String(this.allowed));
    show("denied", String(this.denied));
    if (!this.last) {
      show("remaining", "–");
      show("retry", "–");
      return;
    }
    // What the last reply says of this moment.
    const { allowed, now_ms, reset_ms, remaining, limit, retry_after_ms } = this.last;
    const wait = now_ms + retry_after_ms - serverNow();
    const full = reset_ms >= 0 && serverNow() >= now_ms + reset_ms;
    const more = !allowed && retry_after_ms > 0 && wait <= 0 && remaining === 0;
    show("remaining", full ? String(limit) : more ? "1+" : String(remaining));
    show("retry", allowed ? "–" : retry_after_ms < 0 ? "never" : wait <= 0 ? "now" : `${(wait / 1000).toFixed(1)} s`);
  }

  // The marks of the last time span: a column for each moment, one mark on top of another.
  draw(view) {
    const { context, width, height } = surface(this.canvas);
    const base = height - 1.5;
    context.fillStyle = view.colors.line;
    context.fillRect(0, base, width, 1);
    if (HAS_WINDOWS.includes(this.algorithm)) {
      context.strokeStyle = view.colors.faint;
      context.setLineDash([3, 3]);
      context.beginPath();
      for (let edge = Math.ceil(view.from / view.window) * view.window; edge < view.to; edge += view.window) {
        context.moveTo(view.x(edge), 2);
        context.lineTo(view.x(edge), base);
      }
      context.stroke();
      context.setLineDash([]);
    }
    if (view.to > view.now) {
      context.fillStyle = view.colors.faint;
      context.fillRect(view.x(view.now), 0, 1, height);
    }
    const columns = new Map();
    this.marks = this.marks.filter((mark) => mark.at > view.from - view.column);
    for (const { at, kind } of this.marks) {
      const column = Math.floor(at / view.column);
      if (!columns.has(column)) columns.set(column, { yes: 0, later: 0, no: 0 });
      columns.get(column)[kind] += 1;
    }
    for (const [column, kinds] of columns) {
      const step = Math.min(MARK + GAP, (base - 2) / (kinds.yes + kinds.later + kinds.no));
      let y = base - 1;
      for (const kind of ["yes", "later", "no"]) {
        context.fillStyle = view.colors[kind];
        for (let n = 0; n < kinds[kind]; n += 1, y -= step) {
          mark(context, kind, view.x(column * view.column), y - step * 0.8, step * 0.8);
        }
      }
    }
  }

  describe() {
    const text = `${this.algorithm}: ${this.allowed} allowed, ${this.denied} denied`;
    this.canvas.setAttribute("aria-label", text);
    return text;
  }
}

// A full mark is allowed. One that is hollow, or narrow where many are on top of another, is denied.
function mark(context, kind, x, y, height) {
  if (kind !== "no") context.fillRect(x, y, MARK, height);
  else if (height < 5) context.fillRect(x + 2, y, MARK - 4, height);
  else {
    context.fillRect(x, y, MARK, height);
    context.clearRect(x + 2, y + 2, MARK - 4, height - 4);
  }
}

// The canvas at the resolution of the screen, empty.
function surface(canvas) {
  const scale = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// Two windows back, and one ahead if there are delays.
function viewNow() {
  const width = $("axis").clientWidth;
  const window = Math.max(value("window") || 10, 1) * 1000;
  const now = serverNow();
  const to = rows.get("LEAKY").on ? now + window : now;
  const from = now - 2 * window;
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name);
  return {
    now, from, to, window,
    column: ((to - from) / width) * (MARK + GAP),
    x: (at) => ((at - from) / (to - from)) * width,
    colors: {
      yes: color("--yes"),
      no: color("--no-mark"),
      later: color("--later"),
      line: color("--line"),
      faint: color("--faint"),
    },
  };
}

function draw() {
  const view = viewNow();
  const { context, width, height } = surface($("axis"));
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = view.colors.faint;
  for (let windows = -2; view.now + windows * view.window <= view.to; windows += 1) {
    const seconds = Math.abs(windows * view.window) / 1000;
    const text = windows === 0 ? "now" : windows < 0 ? `${seconds} s ago` : `in ${seconds} s`;
    const x = view.x(view.now + windows * view.window);
    context.textAlign = x < 1 ? "left" : x > width - 1 ? "right" : "center";
    context.fillText(text, x, height - 6);
  }
  for (const row of active()) {
    row.draw(view);
    row.showCounts();
  }
}

let drawn = 0;
function frame(time) {
  requestAnimationFrame(frame);
  if (time - drawn < (still.matches ? 1000 : 33)) return;
  drawn = time;
  draw();
}

function showReplies() {
  const { replies } = rows.get(chosen);
  for (const kind of ["denied", "allowed"]) {
    const reply = replies[kind];
    const pre = $(`${kind}-reply`);
    if (!reply) {
      pre.textContent = "None yet.";
      continue;
    }
    const status = document.createElement("b");
    status.className = kind === "allowed" ? "yes" : "no";
    status.textContent = reply.status;
    const lines = reply.headers.flatMap(([name, text], at) => {
      const label = document.createElement("i");
      label.textContent = `${name}: `;
      return [at ? "\n" : "", label, text];
    });
    pre.replaceChildren(status, ...lines);
  }
  $("command").textContent = rows.get(chosen).command ?? "None yet.";
}

function choose(algorithm) {
  chosen = algorithm;
  $("chosen").textContent = algorithm;
  for (const row of rows.values()) row.name.setAttribute("aria-pressed", String(row.algorithm === chosen));
  showReplies();
}

// An error about a field, or about everything.
function fail(text, field) {
  $("problem").textContent = text;
  const input = field && $(field);
  if (input?.type === "number") {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "problem");
  }
  stop();
}

// Whether the settings can be sent. Says what is wrong.
function valid() {
  $("problem").textContent = "";
  for (const input of numbers) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
  const wrong = numbers.find((input) => input.closest("label").offsetParent && !input.checkValidity());
  if (wrong) {
    const kind = wrong.step === "any" ? "a number" : "an integer";
    const name = wrong.closest("label").firstChild.textContent.trim();
    fail(`${name}: expected ${kind} from ${wrong.min} to ${wrong.max}`, wrong.id);
    return false;
  }
  if (active().length === 0) {
    fail("Choose an algorithm.");
    return false;
  }
  return true;
}

function send(count) {
  if (waiting > MOST_WAITING) return fail("The server is slower than this traffic.");
  const policy = { window: value("window"), limit: value("limit"), key };
  const burst = Number.isNaN(value("burst")) ? {} : { burst: value("burst") };
  const checks = [];
  for (let n = 0; n < count; n += 1) {
    for (const row of active()) {
      const options = TAKES_BURST.includes(row.algorithm) ? burst
        : row.algorithm === "LEASE" ? { work_ms: Math.round(value("work") * 1000) } : {};
      waiting += 1;
      checks.push(row.send({ algorithm: row.algorithm, ...policy, ...options }, key).finally(() => { waiting -= 1; }));
    }
  }
  return Promise.all(checks);
}

async function sendByHand(count) {
  if (!valid()) return;
  await send(count);
  announce();
}

function announce() {
  $("announcement").textContent = active().map((row) => row.describe()).join("; ");
}

// Sends, and sets the next time. A tab in the background sends less.
function tick() {
  send(mode() === "steady" ? 1 : value("size"));
  if (running) schedule();
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(tick, mode() === "steady" ? 1000 / value("rate") : value("every") * 1000);
}

function start() {
  if (!valid()) return;
  running = true;
  $("run").textContent = "Stop";
  tick();
}

function stop() {
  clearTimeout(timer);
  running = false;
  $("run").textContent = "Start";
}

function settingsChanged(event) {
  for (const label of document.querySelectorAll("[data-mode]")) label.hidden = label.dataset.mode !== mode();
  for (const label of document.querySelectorAll("[data-for]")) label.hidden = !rows.get(label.dataset.for).on;
  for (const row of rows.values()) row.section.hidden = !row.on;
  $("run").hidden = mode() === "manual";
  $("many").textContent = `Send ${value("size") || ""}`;
  if (!rows.get(chosen).on && active().length) choose(active()[0].algorithm);
  if (!valid()) return;
  if (mode() === "manual") stop();
  // What changes when to send counts from now on; all else does when it is sent.
  if (running && ["mode", "rate", "every"].includes(event?.target.name || event?.target.id)) schedule();
}

function clear() {
  key = newKey();
  for (const row of rows.values()) row.clear();
  showReplies();
}

for (const [algorithm, about] of Object.entries(ALGORITHMS)) rows.set(algorithm, new Row(algorithm, about));
for (const input of document.querySelectorAll("#settings input:not([type=checkbox])")) {
  input.addEventListener("change", settingsChanged);
}
$("settings").addEventListener("submit", (event) => event.preventDefault());
$("run").addEventListener("click", () => {
  if (running) {
    stop();
    announce();
  } else start();
});
$("one").addEventListener("click", () => sendByHand(1));
$("many").addEventListener("click", () => sendByHand(value("size")));
$("clear").addEventListener("click", clear);
setInterval(() => { if (running) announce(); }, 15_000);
choose(chosen);
settingsChanged();
start();
requestAnimationFrame(frame);
