"use strict";
const $ = (id) => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token") || "";
const url = (path, more) => path + "?" + new URLSearchParams({ token, ...more });
const make = (tag, className, ...content) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  // A text stays a text: names of tasks may contain anything.
  node.append(...content.filter((part) => part !== undefined && part !== null && part !== ""));
  return node;
};
const link = (hash, text, title) => {
  const node = make("a", "", text);
  node.href = "#" + hash;
  if (title) node.title = title;
  return node;
};
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const SLOW = 0.1, HISTORY = 160, ROWS = 200, KEPT = 64;
const narrow = matchMedia("(max-width: 640px)");
const rowHeight = () => narrow.matches ? 54 : 30;
let frozen = false;

function duration(s) {
  if (s === null || s === undefined) return "";
  if (s < 1e-3) return (s * 1e6).toFixed(0) + " µs";
  if (s < 1) return (s * 1e3).toFixed(s < 0.1 ? 1 : 0) + " ms";
  if (s < 60) return s.toFixed(1) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
  return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min";
}
function number(n) {
  if (n >= 1e6) return (n / 1e6).toFixed(1) + " M";
  if (n >= 1e4) return (n / 1e3).toFixed(0) + " k";
  return Math.round(n).toString();
}
// A location as short as it can be read: file and line.
const tiny = (place) => place ? place.split("/").pop().replace(/(:\d+):\d+$/, "$1") : "";
const short = (place) => place ? place.split("/").slice(-2).join("/") : "";

// Fetches JSON. Returns undefined if it fails: the stream of events says that the connection is
// lost.
async function get(path, more) {
  try {
    const answer = await fetch(url(path, more));
    return answer.ok ? await answer.json() : answer.status === 404 ? null : undefined;
  } catch { return undefined; }
}

// A task or a block_on, and a text in which tasks are named, as links.
const MAX_NAME = 48;
function who(one) {
  const text = one.name ? `${one.label} ${one.name.length > MAX_NAME ? one.name.slice(0, MAX_NAME - 1) + "…" : one.name}` : one.label;
  return one.task ? link("task=" + one.task, text, one.name || "") : make("span", "", text);
}
function linked(text) {
  return text.split(/\b(task \d+)\b/).map((part, i) => i % 2 ? link("task=" + part.slice(5), part) : part);
}
// What a task waits for: the operation leads to the resource, and the tasks that can end it follow.
function wait(one, isLong) {
  const operation = one.address ? link("resource=" + one.address, one.operation, `${one.kind} ${one.address}`) : make("span", "", one.operation);
  operation.classList.add("op");
  const node = make("span", "wait", operation);
  if (one.location) {
    const place = make("span", "dim", isLong ? " at " + one.location : " " + tiny(one.location));
    place.title = one.location;
    node.append(place);
  }
  if (one.by.length) {
    node.append(make("span", "dim", one.role ? ` ${one.role} ` : " ended by "));
    one.by.forEach((by, i) => {
      node.append(i ? ", " : "", who(by));
      if (isLong && by.since) node.append(make("span", "dim", ` since ${by.since}`));
    });
    if (one.by_more) node.append(` and ${one.by_more} more`);
  } else if (one.resource) {
    const text = one.address && !isLong ? "" : one.resource.replace(/^source 0x[0-9a-f]+ /, "");
    const resource = make("span", "dim resource", text && ", " + text);
    node.append(resource);
  }
  if (one.is_shared === false) node.append(make("span", "dim", " (this one; others differ)"));
  return node;
}
// Replaces the content of an element, and keeps the focus on the link or entry with the same key.
function replace(element, nodes, none) {
  const focused = document.activeElement, keyOf = (node) => node.dataset.key || node.parentElement?.dataset.key || node.getAttribute("href");
  const key = element.contains(focused) ? keyOf(focused) : undefined;
  const open = new Map([...element.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]));
  const scrolled = [...element.querySelectorAll("ol, pre")].map((one) => [one.scrollLeft, one.scrollTop]);
  element.replaceChildren(...(nodes.length ? nodes : [make("p", "dim", none)]));
  for (const one of element.querySelectorAll("details[data-key]")) if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
  [...element.querySelectorAll("ol, pre")].forEach((one, i) => { if (scrolled[i]) one.scrollTo(...scrolled[i]); });
  if (key) [...element.querySelectorAll("a, summary, button")].find((node) => keyOf(node) === key)?.focus({ preventScroll: true });
}

// Plots.
const plots = new Map();
function plot(name, value) {
  let entry = plots.get(name);
  if (!entry) {
    const box = make("div", "plot"), canvas = make("canvas"), shown = make("b");
    box.append(make("span", "dim", name), shown, canvas);
    $("plots").append(box);
    entry = { canvas, shown, values: [] };
    plots.set(name, entry);
  }
  entry.values.push(value);
  if (entry.values.length > HISTORY) entry.values.shift();
  entry.shown.textContent = number(value);
  const { canvas, values } = entry, c = canvas.getContext("2d");
  const w = canvas.clientWidth || 124, h = 30, scale = devicePixelRatio || 1;
  canvas.width = w * scale;
  canvas.height = h * scale;
  c.scale(scale, scale);
  const top = Math.max(1, ...values);
  c.strokeStyle = "#4a90e2"; c.lineWidth = 1.5; c.beginPath();
  values.forEach((v, i) => {
    const x = w - (values.length - 1 - i) * w / (HISTORY - 1), y = h - 2 - v / top * (h - 4);
    i ? c.lineTo(x, y) : c.moveTo(x, y);
  });
  c.stroke();
}

for (const name of ["polls/s", "spawned/s", "stolen/s", "busy %", "tasks alive", "worker queues"]) plot(name, 0);

// Workers.
const lanes = new Map();
const colors = { polling: "#2f7d4f", slow: "#c2341d", parked: "#8a8f9840", searching: "#b7791f", ready: "#6aa9e0", stopped: "#0000" };
function showWorkers(workers) {
  // A spare worker has a row while it serves.
  const names = new Set(workers.map((worker) => worker.worker));
  for (const [name, { row }] of lanes) if (!names.has(name)) { row.remove(); lanes.delete(name); }
  workers.forEach((worker) => {
    if (!lanes.has(worker.worker)) {
      const row = make("div", "lane"), activity = make("span"), canvas = make("canvas"), what = make("span", "what dim");
      row.append(make("span", "dim", worker.worker), activity, canvas, what);
      $("lanes").append(row);
      lanes.set(worker.worker, { row, activity, canvas, what, task: 0, history: [] });
    }
    const lane = lanes.get(worker.worker), slow = worker.activity === "polling" && worker.for >= SLOW;
    setText(lane.activity, slow ? "slow poll" : worker.activity);
    lane.activity.className = slow ? "is-slow" : "";
    if (lane.task !== worker.task) {
      // The link stays, so that it can be clicked.
      lane.task = worker.task;
      lane.what.replaceChildren(...(worker.task ? [link("task=" + worker.task, `task ${worker.task}`)] : []), make("span"));
    }
    lane.what.lastChild.textContent = worker.task
      ? ` ${worker.name || ""} ${short(worker.location)} for ${duration(worker.for)}`
      : `${number(worker.polls)} polls, ${number(worker.steals)} stolen, queue ${worker.depth}`;
    lane.history.push(slow ? "slow" : worker.activity);
    if (lane.history.length > HISTORY) lane.history.shift();
    const c = lane.canvas.getContext("2d"), w = lane.canvas.width = HISTORY * 2;
    lane.canvas.height = 16;
    lane.history.forEach((state, k) => {
      c.fillStyle = colors[state];
      c.fillRect(w - (lane.history.length - k) * 2, 0, 2, 16);
    });
  });
}

// Slow polls: one entry for each group, those that run before the others, the latest first.
const slow = new Map();
function addSlow(groups) {
  for (const group of groups) {
    const old = slow.get(group.key);
    const details = old?.details || make("details", "card", make("summary"), make("pre", "stack"));
    slow.set(group.key, { group, details, at: Date.now() - group.age * 1000, received: Date.now() });
    details.dataset.key = group.key;
    details.dataset.task = group.task || "";
    setText(details.lastChild, group.stack || "no stack was taken");
  }
}
function showSlow() {
  const now = Date.now();
  const all = [...slow.values()].sort((one, two) => two.group.is_running - one.group.is_running || two.at - one.at);
  for (const old of all.splice(KEPT)) { old.details.remove(); slow.delete(old.group.key); }
  if (!all.length) return;
  $("slow-list").querySelector("p")?.remove();
  all.forEach(({ group, details, at, received }, index) => {
    const time = group.is_running ? group.latest + (now - received) / 1000 : group.latest;
    const worst = Math.max(group.worst, time);
    const title = group.frame || group.span || group.name || short(group.location) || "future of block_on";
    // Rebuilt only if it changes, so that it can be clicked.
    const sign = [title, group.count, group.task, at, group.is_running].join();
    const summary = details.firstChild;
    if (summary.dataset.sign !== sign) {
      summary.dataset.sign = sign;
      const place = group.frame ? group.frame_at : "";
      const further = [place && short(place), group.span !== title && group.span, group.name !== title && group.name,
        group.location && short(group.location) !== title && "spawned at " + short(group.location), "on " + group.thread];
      summary.replaceChildren(make("b", "is-slow"), " ", make("b", "op", title), " ",
        group.is_running ? make("span", "tag running", "running") : "", " ",
        make("span", "", `${group.count} ${group.count === 1 ? "poll" : "polls"}`), make("span", "dim"),
        make("span", "dim", further.filter(Boolean).map((part) => ", " + part).join("")), " ",
        ...(group.task ? [link("task=" + group.task, "task " + group.task)] : []));
    }
    const [shown, , , , , , , more] = summary.childNodes;
    setText(shown, duration(worst));
    setText(more, `, latest ${duration(time)}` + (group.is_running ? " so far" : ` at ${new Date(at).toLocaleTimeString()}`));
    if ($("slow-list").children[index] !== details) $("slow-list").insertBefore(details, $("slow-list").children[index] || null);
  });
  setText($("slow-count"), String(all.length));
}

// Deadlocks, and tasks that others wait for.
let waitsAt = 0;
async function loadWaits() {
  const now = performance.now();
  if (now - waitsAt < 1000) return;
  waitsAt = now;
  const graph = await get("/waits");
  if (graph) showWaits(graph);
}
function showWaits(graph) {
  $("deadlocks").hidden = !graph.deadlocks.length;
  replace($("deadlocks"), graph.deadlocks.map((one) => {
    const [, ...lines] = one.text.trimEnd().split("\n");
    const title = `${one.is_suspected ? "suspected deadlock" : "deadlock"} of ${one.count} task${one.count === 1 ? "" : "s"}`;
    const details = make("details", "card", make("summary", "is-slow", title), make("pre", "", ...linked(lines.join("\n"))));
    details.dataset.key = "deadlock " + one.edges[0];
    details.open = true;
    return details;
  }), "none");
  const rest = (one) => one.count > one.edges.length ? `\nand ${one.count - one.edges.length} more` : "";
  replace($("waits"), graph.awaited.map((one) => {
    const summary = make("summary", "", who(one), ` ${short(one.location)}: ${one.count} wait for it`);
    if (one.waits.length) summary.append("; it waits for ", ...one.waits.flatMap((each, i) => [i ? "; " : "", wait(each)]));
    const details = make("details", "card", summary, make("pre", "", ...linked(one.edges.join("\n") + rest(one))));
    details.dataset.key = "awaited " + one.label;
    return details;
  }), "none");
  setText($("awaited"), String(graph.total || ""));
}

// Tasks.
const columns = [["id", "Task", ""], ["name", "Name", ""], ["waits", "Waits for", ""], ["state", "State", "middle"],
  ["since", "For", "middle number"], ["location", "Spawned at", "middle"], ["polls", "Polls", "middle wide number"],
  ["busy", "Busy", "middle wide number"], ["longest", "Longest", "middle wide number"], ["age", "Age", "middle wide number"]];
const unsorted = "waits";
const query = { filter: "all", text: "", sort: "id", group: "" };
const filters = ["all", "busy", "waiting", "slow", "idle"];
const labels = { idle: "not polled for 10 s" };
for (const [key, label, kind] of columns) {
  const cell = make("div", `${key} ${kind}`), button = make(key === unsorted ? "span" : "button", "", label);
  cell.setAttribute("role", "columnheader");
  // Numbers begin with the greatest, texts with the first.
  const both = kind.includes("number") ? ["-" + key, key] : [key, "-" + key];
  if (key !== unsorted) button.onclick = () => { query.sort = query.sort === both[0] ? both[1] : both[0]; loadTasks(); };
  cell.append(button);
  document.querySelector(".row.head").append(cell);
  cell.dataset.key = key; cell.dataset.label = label;
}
function filterBy(name) {
  query.filter = name;
  $("table").scrollTop = 0;
  loadTasks();
}
for (const name of filters) {
  const button = make("button", "", labels[name] || name);
  button.dataset.filter = name;
  button.onclick = () => filterBy(name);
  $("filters").append(button);
}
$("ungroup").onclick = () => { location.hash = "tasks"; };
let loading = false, again = false;
async function loadTasks() {
  for (const button of $("filters").children) button.setAttribute("aria-pressed", button.dataset.filter === query.filter);
  for (const cell of document.querySelector(".row.head").children) {
    const is = query.sort.replace("-", "") === cell.dataset.key;
    setText(cell.firstChild, cell.dataset.label + (is ? (query.sort[0] === "-" ? " ↓" : " ↑") : ""));
    cell.setAttribute("aria-sort", is ? (query.sort[0] === "-" ? "descending" : "ascending") : "none");
  }
  $("ungroup").hidden = !query.group;
  if (loading) { again = true; return; }
  loading = true;
  const height = rowHeight();
  const offset = Math.max(0, Math.floor($("table").scrollTop / height) - 10);
  const limit = Math.min(ROWS, Math.ceil($("table").clientHeight / height) + 20);
  const page = await get("/tasks", { ...query, offset, limit });
  if (page) showTasks(page);
  loading = false;
  if (again) { again = false; loadTasks(); }
}
// The rows by the ids of their tasks. A row stays while its task is shown, so that it can be
// clicked.
let rows = new Map();
function makeRow(task) {
  const row = make("div", "row"), cells = {};
  row.setAttribute("role", "row");
  row.dataset.id = task.id;
  for (const [key, , kind] of columns) {
    cells[key] = make("div", `${key} ${kind}`);
    cells[key].setAttribute("role", "cell");
    row.append(cells[key]);
  }
  const state = make("span", "tag"), for_ = make("span", "narrow tag");
  cells.id.append(link("task=" + task.id, String(task.id)), " ", for_);
  cells.state.append(state);
  row.onclick = (event) => { if (!event.target.closest("a")) location.hash = "task=" + task.id; };
  return { row, cells, state, for_, sign: "" };
}
function fillRow({ cells, state, for_, row, ...entry }, task) {
  row.classList.toggle("is-slow", task.is_slow);
  setText(state, task.state);
  state.className = "tag " + task.state;
  setText(for_, duration(task.since));
  for_.className = "narrow tag " + task.state;
  const texts = { name: task.name || task.span || "", location: tiny(task.location), since: duration(task.since), polls: number(task.polls),
    busy: duration(task.busy), longest: duration(task.longest), age: duration(task.age) };
  for (const key in texts) setText(cells[key], texts[key]);
  cells.name.title = [task.name, task.span].filter(Boolean).join(", ");
  cells.location.title = task.location;
  const sign = JSON.stringify(task.waits, (key, value) => key === "resource" ? undefined : value);
  if (entry.sign !== sign) {
    cells.waits.replaceChildren(...task.waits.flatMap((one, i) => [i ? "; " : "", wait(one)]),
      ...(task.waits_more ? [`; ${task.waits_more} more`] : []));
    cells.waits.title = cells.waits.textContent;
  } else {
    // The time that is left until a deadline.
    const shown = task.waits.filter((one) => !one.by.length && one.resource && !one.address);
    const nodes = [...cells.waits.querySelectorAll(".resource")].filter((node) => node.textContent);
    nodes.forEach((node, i) => setText(node, ", " + shown[i]?.resource.replace(/^source 0x[0-9a-f]+ /, "")));
  }
  return sign;
}
function showTasks(page) {
  setText($("count"), page.matching === page.total ? String(page.total) : `${page.matching} of ${page.total}`);
  $("space").style.height = page.matching * rowHeight() + "px";
  $("cut").hidden = !page.left_off;
  setText($("cut"), `${page.left_off} rows are left off: the response would be too large`);
  const focused = document.activeElement, former = rows;
  rows = new Map();
  page.tasks.forEach((task, index) => {
    const entry = former.get(task.id) || makeRow(task);
    entry.sign = fillRow(entry, task);
    rows.set(task.id, entry);
    former.delete(task.id);
    if ($("rows").children[index] !== entry.row) $("rows").insertBefore(entry.row, $("rows").children[index] || null);
  });
  for (const { row } of former.values()) row.remove();
  if (focused !== document.activeElement && $("rows").contains(focused)) focused.focus({ preventScroll: true });
  $("rows").style.transform = `translateY(${page.offset * rowHeight()}px)`;
}
// Moves the focus to the next task.
function moveFocus(step) {
  const row = document.activeElement.closest?.("#rows .row");
  const top = $("table").getBoundingClientRect().top + rowHeight();
  const next = row ? (step > 0 ? row.nextElementSibling : row.previousElementSibling)
    : [...$("rows").children].find((one) => one.getBoundingClientRect().top >= top - 1);
  if (!next) return;
  next.querySelector("a").focus({ preventScroll: true });
  const box = next.getBoundingClientRect(), table = $("table").getBoundingClientRect();
  if (box.bottom > table.bottom) $("table").scrollTop += box.bottom - table.bottom + 2;
  if (box.top < top) $("table").scrollTop -= top - box.top;
}
let scrolling;
$("table").onscroll = () => { clearTimeout(scrolling); scrolling = setTimeout(loadTasks, 40); };
$("text").oninput = () => { query.text = $("text").value; $("table").scrollTop = 0; loadTasks(); };

// Groups.
function tagged(state, text) { return make("span", "tag " + state, text || state); }
async function loadGroups() {
  const page = await get("/groups");
  if (!page) return;
  const nodes = page.groups.map((one) => {
    const waits = make("div", "waits", ...one.waits.flatMap((each, i) => [i ? "; " : "", wait(each)]));
    if (!one.waits.length) waits.append(make("span", "dim", one.state === "waiting" ? "waits for something that is not recorded" : ""));
    const times = one.count === 1 ? duration(one.longest) : `${duration(one.shortest)} to ${duration(one.longest)}`;
    const others = one.count > one.tasks.length ? ` and ${number(one.count - one.tasks.length)} more` : "";
    const spans = one.spans.map(([span, count]) => make("div", "", span, count < one.count ? make("span", "dim", ` ${number(count)} tasks`) : ""));
    waits.append(...spans);
    const node = make("div", "card group", make("b", "", link("group=" + one.key, number(one.count), `${one.count} tasks`)), waits,
      make("div", "dim", tagged(one.state), ` for ${times}, spawned at ${short(one.location)}: `,
        ...one.tasks.flatMap((each, i) => [i ? ", " : "", who(each)]), others));
    node.dataset.key = one.key;
    return node;
  });
  if (page.left_off) nodes.push(make("p", "is-slow", `${page.left_off} smaller groups are left off`));
  replace($("group-list"), nodes, "no tasks");
}

// Resources. Their roles are in words.
async function loadResources(chosen) {
  const page = await get("/resources");
  if (!page) return;
  const nodes = page.resources.map((one) => {
    const at = (waiter) => `${waiter.operation}${waiter.location ? " at " + short(waiter.location) : ""}`;
    const places = new Set(one.waiters.map(at));
    const card = make("details", "card", make("summary", "", make("b", "op", one.kind), " ", link("resource=" + one.address, one.address),
      `, ${one.count} ${one.count === 1 ? "task waits" : "tasks wait"}`, places.size === 1 ? make("span", "dim", ` in ${[...places][0]}`) : ""));
    card.dataset.key = one.address;
    card.open = one.address === chosen || page.resources.length <= 12;
    card.classList.toggle("is-chosen", one.address === chosen);
    const users = one.users.map((user) => make("p", "", who(user), ` ${user.role}`, user.since ? make("span", "dim", ` since ${short(user.since)}`) : ""));
    if (one.users_more) users.push(make("p", "dim", `and ${one.users_more} more`));
    if (!users.length) users.push(make("p", "dim", one.kind === "notification" ? "any task may notify" : "no task is known that can end the waits"));
    const queue = make("ol", "", ...one.waiters.map((waiter) => make("li", "", who(waiter), make("span", "dim",
      (places.size > 1 ? " " + at(waiter) : "") + ` for ${duration(waiter.time)}`))));
    card.append(...users, queue);
    if (one.waiters_more) card.append(make("p", "dim", `and ${number(one.waiters_more)} more wait`));
    return card;
  });
  if (page.left_off) nodes.push(make("p", "is-slow", `${page.left_off} resources with fewer waiters are left off`));
  replace($("resource-list"), nodes, "no task waits for one");
  if (chosen && shown.scroll) { shown.scroll = false; document.querySelector(".is-chosen")?.scrollIntoView({ block: "center" }); }
}

// The page of a task.
async function loadTask(id) {
  const page = await get("/task", { id });
  if (page === undefined || shown.task !== id) return;
  if (!page) { replace($("task-page"), [link(shown.list, "← back", "key Escape"), make("h2", "", `task ${id}`), make("p", "", "This task has ended; its history was removed.")]); return; }
  const { task } = page;
  const heading = make("h2", "", `task ${task.id} `, task.name ? make("span", "", task.name + " ") : "", task.span ? make("span", "dim", task.span + " ") : "", tagged(task.state), ` for ${duration(task.since)}`);
  const fact = (name, ...content) => make("div", "", make("dt", "", name), make("dd", "", ...content));
  const wakes = page.wakes, by = (one) => one ? [one.cause, one.by ? " " : "", one.by ? who(one.by) : ""] : ["not while it waited"];
  const facts = make("dl", "",
    fact("spawned at", task.location, ` ${duration(task.age)} ago`),
    fact("polls", `${task.polls}, ${duration(task.busy)} in all, longest ${duration(task.longest)}`),
    fact("scheduling delay", `mean ${duration(page.mean_delay)}, longest ${duration(page.longest_delay)}`),
    fact("wakes", `${wakes.tasks} by tasks, ${wakes.driver} by the driver, ${wakes.other} by other code`),
    fact("self-wakes", `${wakes.self} polls in which it was woken again`),
    fact("wakers", page.wakers === null ? "not counted" : `${page.wakers}, with abort handles, after its last poll`),
    fact("last wake", ...by(page.last_wake), page.last_wake ? ` ${duration(page.last_wake.ago)} ago` : "",
      page.thread && page.wakes.other ? `; last other thread: ${page.thread}` : ""),
    fact("similar tasks", link("group=" + page.group, "all of its group")));
  const nodes = [link(shown.list, "← back", "key Escape"), heading, facts];
  if (task.state === "running") nodes.push(stackOf(id));
  const list = (items) => make("ul", "", ...items.map((item) => make("li", "", ...item)));
  nodes.push(make("h2", "", "Waits for"));
  nodes.push(task.waits.length ? list(task.waits.map((one) => [wait(one, true)]))
    : make("p", "dim", task.state === "waiting" ? "something that is not recorded" : "nothing: it is " + task.state));
  nodes.push(make("h2", "", "Tasks that wait for it"));
  const more = page.waiters_more ? [[`and ${page.waiters_more} more`]] : [];
  nodes.push(page.waiters.length ? list([...page.waiters.map((one) => [who(one), make("span", "dim",
    ` ${one.operation}${one.location ? " at " + one.location : ""}${one.since ? ", used by this task since " + short(one.since) : ""}`)]), ...more])
    : make("p", "dim", "none that is known"));
  nodes.push(make("h2", "", `Latest polls`));
  const top = Math.max(...page.polls.map((poll) => poll.time), 1e-9);
  const head = make("tr", "", ...[["ago", "number"], ["time", "number"], ["", "bars"], ["queued for", "number"], ["cause", ""]].map(([text, kind]) => make("th", kind, text)));
  const polls = [...page.polls].reverse().map((poll) => {
    const meter = make("div", "meter" + (poll.time >= SLOW ? " slow" : ""));
    meter.style.width = 100 * poll.time / top + "%";
    return make("tr", "", make("td", "number", duration(poll.ago)), make("td", "number", duration(poll.time)), make("td", "bars", meter),
      make("td", "number", duration(poll.delay)), make("td", "", ...by(poll)));
  });
  nodes.push(polls.length ? make("table", "", make("thead", "", head), make("tbody", "", ...polls)) : make("p", "dim", "none has returned"));
  const selected = getSelection();
  // A text that the user selects stays.
  if (!selected.isCollapsed && $("task-page").contains(selected.anchorNode) && $("task-page").dataset.id === String(id)) return;
  $("task-page").dataset.id = id;
  replace($("task-page"), nodes);
}
const stack = { id: 0, text: "", isLoading: false };
function stackOf(id) {
  if (stack.id !== id) Object.assign(stack, { id, text: "", isLoading: false });
  const button = make("button", "", stack.isLoading ? "taking the stack …" : "Stack of its thread");
  button.id = "stack";
  button.dataset.key = "stack";
  button.disabled = stack.isLoading;
  button.onclick = async () => {
    Object.assign(stack, { isLoading: true });
    button.disabled = true;
    const answer = await get("/stack", { id });
    if (stack.id !== id) return;
    Object.assign(stack, { isLoading: false, text: answer?.stack || "no stack: the poll has returned, or this system takes none" });
    loadTask(id);
  };
  return make("div", "", button, stack.text ? make("pre", "stack", stack.text) : "");
}

// Views. The address after `#` says which one is shown, so that links and the back button work. No
// element has it as its id, to which the browser would scroll.
const shown = { view: "tasks", task: 0, resource: "", scroll: false, list: "tasks" };
function go(hash) {
  location.hash = hash;
  route();
}
function route() {
  const [name, value] = location.hash.slice(1).split("=");
  const former = shown.view;
  const views = { group: "tasks", resource: "resources", groups: "groups", resources: "resources", slow: "slow", task: "task" };
  shown.view = views[name] || "tasks";
  shown.task = name === "task" ? Number(value) : 0;
  shown.resource = name === "resource" ? value : "";
  shown.scroll = true;
  query.group = name === "group" ? value : "";
  for (const section of document.querySelectorAll("[data-view]")) section.hidden = section.dataset.view !== shown.view;
  for (const tab of $("tabs").children) {
    if (tab.hash === "#" + shown.view) tab.setAttribute("aria-current", "page"); else tab.removeAttribute("aria-current");
  }
  if (shown.view !== former) scrollTo(0, 0);
  if (shown.view !== "task") shown.list = location.hash.slice(1) || "tasks";
  if (shown.view === "task" && $("task-page").dataset.id !== String(shown.task)) $("task-page").replaceChildren();
  waitsAt = 0;
  loadView(true);
  if (!frozen) loadWaits();
}
let viewAt = 0;
function loadView(isNew) {
  const now = performance.now();
  if (shown.view === "tasks") { loadTasks(); return; }
  if (!isNew && now - viewAt < 1000) return;
  viewAt = now;
  if (shown.view === "groups") loadGroups();
  if (shown.view === "resources") loadResources(shown.resource);
  if (shown.view === "task") loadTask(shown.task);
}
addEventListener("hashchange", route);
function fit() {
  $("overview").open = !narrow.matches;
}
narrow.onchange = () => { fit(); loadView(true); };
fit();

// Events.
let last;
function show(event) {
  const now = performance.now();
  showWorkers(event.workers);
  addSlow(event.slow);
  showSlow();
  const totals = event.totals;
  const counts = { polls: totals.polls, steals: totals.steals, spawned: event.spawned, busy: totals.busy };
  if (last) {
    const s = Math.max((now - last.now) / 1000, 0.01), rate = (key) => Math.max(0, counts[key] - last[key]) / s;
    plot("polls/s", rate("polls"));
    plot("spawned/s", rate("spawned"));
    plot("stolen/s", rate("steals"));
    // The busy time of all, as a part of the time of the workers that are no spare ones: a spare
    // worker serves while another is in a poll that does not return, and is else parked.
    const workers = event.workers.filter((one) => one.worker.startsWith("W")).length;
    plot("busy %", Math.min(100, 100 * rate("busy") / Math.max(1, workers)));
  }
  if (shown.view !== "tasks") setText($("count"), String(event.alive));
  plot("tasks alive", event.alive);
  plot("worker queues", totals.depth);
  plot("injection queue", event.injection);
  plot("blocking jobs", event.blocking);
  plot("blocking queue", event.blocking_queue);
  last = { ...counts, now };
}
function setState(state, text) { $("state").dataset.state = state; setText($("state"), text || state); }
function notice(text) { $("notice").hidden = !text; setText($("notice"), text); }
let stream, isFull = false;
function connect() {
  stream = new EventSource(url("/events"));
  stream.addEventListener("full", (message) => {
    isFull = true;
    setState("full", "not connected");
    notice(`${message.data} viewers are connected; close one. This page tries again by itself.`);
  });
  stream.onerror = () => {
    if (!isFull) setState("lost");
    // The browser itself tries again, unless the server has refused the stream.
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
  };
  stream.onmessage = (message) => {
    if (isFull) { isFull = false; notice(""); }
    if ($("state").dataset.state !== "frozen") setState(frozen ? "frozen" : "live");
    const event = JSON.parse(message.data);
    if (frozen) { addSlow(event.slow); return; }
    show(event);
    loadView(false);
    loadWaits();
  };
}

// Buttons and keys.
function freeze() {
  frozen = !frozen;
  $("freeze").setAttribute("aria-pressed", frozen);
  setState(frozen ? "frozen" : "live");
  if (!frozen) { showSlow(); last = undefined; loadView(true); }
}
async function save() {
  const state = $("state").dataset.state;
  setState(state, "loading the recording");
  const answer = await fetch(url("/recording")).catch(() => undefined);
  if (!answer?.ok) { notice(answer?.status === 404 ? "this runtime has no flight recorder" : "the recording could not be loaded"); setState(state); return; }
  const file = await answer.blob().catch(() => undefined);
  setState(state);
  if (!file) { notice("the recording could not be loaded"); return; }
  const anchor = make("a");
  anchor.href = URL.createObjectURL(file);
  anchor.download = "raddle.recording";
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}
$("freeze").onclick = freeze;
$("save").onclick = save;
const views = { t: "tasks", g: "groups", r: "resources", s: "slow" };
addEventListener("keydown", (key) => {
  if (key.ctrlKey || key.metaKey || key.altKey) return;
  if (key.target.tagName === "INPUT") { if (key.key === "Escape") key.target.blur(); return; }
  const steps = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
  if (key.key === "/") {
    if (shown.view !== "tasks") go("tasks");
    $("text").focus();
    key.preventDefault();
  }
  else if (key.key === "f") freeze();
  else if (key.key === "d") save();
  else if (key.key === "Escape" && shown.view === "task") go(shown.list);
  else if (views[key.key]) go(views[key.key]);
  else if (shown.view === "tasks" && steps[key.key] && (key.key.length === 1 || $("table").contains(key.target))) {
    moveFocus(steps[key.key]);
    key.preventDefault();
  } else if (filters[key.key - 1]) {
    if (shown.view !== "tasks") go("tasks");
    filterBy(filters[key.key - 1]);
  }
});
connect();
route();
