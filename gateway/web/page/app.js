// The page: which conversation is open, what is typed, and what the gateway says about both.
import { Socket, Cut, Refused } from "./socket.js";
import { Talk } from "./talk.js";
import { Queue } from "./queue.js";
import { Side } from "./side.js";

const $ = (id) => document.getElementById(id);
const box = $("text");
let session = null; // as the gateway describes it
let unsent = []; // messages that have no receipt yet: {id, text, session}
let commands = [];

const socket = new Socket({ open, event: heard, state: connection });
const talk = new Talk({ log: $("log"), scroll: $("scroll"), act: { answer, again, press }, news: announce, changed });
const queue = new Queue($("queue"), { now: sendNow, remove });
const side = new Side({ pick: show, fresh });

function announce(kind, text) {
  $(kind).textContent = text.length > 600 ? [...text].slice(0, 600).join("") + "…" : text;
}

function banner(text) {
  $("banner").textContent = text || "";
}

const lost = "No connection. Trying again; what you write is sent as soon as it is back.";

function connection(state) {
  document.body.dataset.connection = state;
  changed();
  $("state").textContent = state === "online" ? "" : state === "refused" ? "Not signed in" : "Offline";
  if (state === "online") banner("");
  if (state === "offline") banner(lost);
  if (state === "refused") banner("You are not signed in here. Open the link that bellhop printed when it started, or run “bellhop serve” again to get a new one.");
}

/** open catches up on a new connection: nothing twice, nothing missed. */
async function open() {
  await Promise.all([welcome(), side.load(socket)]);
  if (session) await catchUp(talk.seq);
  else if (wanted()) await show(wanted(), true);
  await sendUnsent();
}

async function welcome() {
  const [setup, catalog] = await Promise.all([socket.call("setup.status"), socket.call("commands.catalog")]);
  commands = catalog.commands;
  $("model").textContent = setup.practice ? "Practice model" : setup.model;
  if (setup.message) $("hello-text").textContent = setup.message;
  const ideas = setup.practice ? ["Hello! What can you do?", "table", "run: date"] : ["What can you do for me here?", "Summarise the files in the workspace", "Help me plan my day"];
  $("ideas").replaceChildren(...ideas.map((text) => {
    const item = document.createElement("li");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "idea", textContent: text });
    button.onclick = () => submit(text);
    item.append(button);
    return item;
  }));
  hint();
}

/** catchUp asks what happened since a number. */
async function catchUp(seq) {
  const id = session.session_id;
  const r = await socket.call("session.events.since", { session_id: id, seq }, (r) => {
    if (session?.session_id === id) {
      for (const e of r.events) talk.hear(e);
      talk.seq = Math.max(talk.seq, r.seq);
    }
    return r;
  });
  if (r.more && session?.session_id === id) return catchUp(r.seq);
  changed();
}

function heard(e) {
  if (e.type === "gateway.ready") return;
  if (e.type === "message.start" || e.type === "message.complete") side.mark(e.session_id, e.type === "message.start");
  if (e.session_id !== session?.session_id) return;
  if (e.payload.kind === "lagged") return quietly(catchUp(talk.seq));
  if (e.type === "message.start") started(e.admission_id);
  talk.hear(e);
}

/** started moves a message from the queue into the conversation. */
function started(id) {
  const text = queue.text(id);
  if (text !== undefined) talk.turn(id).asked(text);
  else if (!talk.turns.has(id)) quietly(whatWasAsked(id));
}

/** whatWasAsked finds the text of a turn that another door began. */
async function whatWasAsked(id) {
  const r = await socket.call("session.history", { session_id: session.session_id, limit: 20 });
  const message = r.messages.find((m) => m.admission_id === id && m.role === "user");
  if (message) talk.turn(id).asked(message.text);
}

/** changed follows a turn's beginning or end, and every change of the queue. */
function changed() {
  const running = talk.running !== null;
  queue.hold(socket.ws ? [] : unsent.filter((m) => m.session === session?.session_id));
  $("stop").hidden = !running;
  $("send").textContent = running ? "Queue" : "Send";
  $("hello").hidden = talk.turns.size > 0 || queue.items.length > 0 || unsent.length > 0;
  $("log").setAttribute("aria-busy", running);
  hint();
  clearTimeout(changed.timer);
  changed.timer = setTimeout(() => quietly(refresh()), 30);
}

async function refresh() {
  if (!session || !socket.ws) return;
  const id = session.session_id;
  const r = await socket.call("queue.list", { session_id: id });
  if (id === session?.session_id) showQueue(r.queue);
  await side.load(socket);
  retitle();
}

function showQueue(rows) {
  queue.show(rows);
  talk.bottom(false);
}

function retitle() {
  const now = side.find(session?.session_id);
  if (now) session = now;
  const title = session?.title || "New conversation";
  $("title").textContent = title;
  document.title = session?.title ? title + " · bellhop" : "bellhop";
}

function wanted() {
  return new URLSearchParams(location.hash.slice(1)).get("s");
}

/** show opens a conversation. */
async function show(id, atStart) {
  drafts.set(session?.session_id, box.value);
  try {
    await socket.call("session.resume", { session_id: id }, (r) => {
      session = r;
      talk.resume(r);
      queue.show(r.queue);
      for (const q of r.queue) if (q.status === "started") talk.running = q.admission_id;
      $("older").hidden = !r.more;
    });
  } catch (err) {
    if (atStart && err instanceof Refused) return fresh();
    return say(err);
  }
  history.replaceState(null, "", "#s=" + session.session_id);
  box.value = drafts.get(session.session_id) || "";
  grow();
  side.current(session.session_id);
  retitle();
  changed();
  if (!atStart) box.focus();
}

const drafts = new Map();

/** fresh begins a new conversation; the gateway hears of it with the first message. */
function fresh() {
  session = null;
  talk.clear();
  queue.show([]);
  $("older").hidden = true;
  history.replaceState(null, "", location.pathname);
  side.current(null);
  retitle();
  changed();
  box.focus();
}

async function submit(text) {
  text = text.trim();
  if (!text) return;
  unsent.push({ id: requestID(), text, session: session?.session_id });
  talk.pinned = true;
  changed();
  await sendUnsent();
}

/** sendUnsent sends what has no receipt. The same request id gets the same receipt, so trying again is safe. */
async function sendUnsent() {
  if (sendUnsent.busy) return;
  sendUnsent.busy = true;
  try {
    while (unsent.length && socket.ws) {
      await send(unsent[0]);
      unsent.shift();
    }
  } catch (err) {
    if (!(err instanceof Cut)) {
      const failed = unsent.shift();
      box.value ||= failed.text;
      grow();
      say(err);
    }
  } finally {
    sendUnsent.busy = false;
  }
}

async function send(message) {
  if (!message.session) {
    const made = await socket.call("session.create");
    message.session = made.session_id;
    if (!session) {
      session = made;
      history.replaceState(null, "", "#s=" + made.session_id);
      side.current(made.session_id);
    }
  }
  await socket.call("prompt.submit", { session_id: message.session, text: message.text, queue: true, request_id: message.id }, (r) => {
    if (message.session === session?.session_id) receipt(message, r);
  });
}

function receipt(message, r) {
  if (r.session_id) {
    quietly(show(r.session_id));
  } else if (r.status === "command") {
    if (r.text) talk.command(message.text, r.rendered, r.text, r.buttons);
  } else if (r.place > 0) {
    queue.show([...queue.rows, { admission_id: r.admission_id, text: message.text.replace(/^\/(steer|queue)\s+/i, ""), status: "queued" }]);
    announce("polite", r.status === "steered" ? "The answer under way is told." : `Waiting, ${r.place} before it.`);
  } else {
    const turn = talk.turn(r.admission_id);
    turn.asked(message.text);
    if (turn.state === "new") turn.begin();
  }
  changed();
  talk.bottom(true);
}

function requestID() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

async function stop() {
  if (!session || talk.running === null) return;
  $("stop").disabled = true;
  try {
    await socket.call("session.interrupt", { session_id: session.session_id });
    announce("polite", "Stopping.");
  } catch (err) {
    say(err);
  } finally {
    $("stop").disabled = false;
  }
  box.focus();
}

async function answer(q, value) {
  const params = { request_id: q.request_id };
  if (q.kind === "approval") params.choice = value;
  else if (q.kind === "sudo") params.password = value;
  else if (q.kind === "secret") params.value = value;
  else params.answer = value;
  await socket.call(q.kind + ".respond", params);
}

/** press does what a button under a command's answer stands for, and returns words for it. */
async function press(data) {
  const r = await socket.call("command.press", { session_id: session.session_id, data, request_id: requestID() });
  changed();
  return r.message;
}

function again(text) {
  quietly(submit(text));
}

async function sendNow(id) {
  try {
    showQueue((await socket.call("queue.now", { admission_id: id })).queue);
  } catch (err) {
    say(err);
  }
  changed();
}

async function remove(id, text) {
  try {
    showQueue((await socket.call("queue.remove", { admission_id: id })).queue);
    if (!box.value) {
      box.value = text;
      grow();
    }
  } catch (err) {
    say(err);
  }
  changed();
}

/** say tells the person what went wrong, in the gateway's words. */
function say(err) {
  if (err instanceof Cut) return banner(lost);
  banner("That did not work: " + err.message + ".");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => document.body.dataset.connection === "online" && banner(""), 8000);
}

/** quietly runs something whose failure the next connection repairs. */
function quietly(promise) {
  promise.catch((err) => err instanceof Cut || say(err));
}

function hint() {
  const typed = box.value.match(/^\/(\S*)$/);
  const found = typed ? commands.filter((c) => c.name.startsWith(typed[1].toLowerCase())).slice(0, 4) : [];
  $("hint").textContent = found.length ? found.map((c) => `/${c.name} ${c.about}`).join(" · ")
    : talk.running !== null ? "Enter puts it in the queue · Esc stops the answer" : "Enter sends · Shift+Enter new line · / commands";
}

/** grow fits the box to its text where the browser does not. */
function grow() {
  if (!CSS.supports("field-sizing", "content")) {
    box.style.height = "auto";
    box.style.height = box.scrollHeight + 2 + "px";
  }
  hint();
}

$("composer").addEventListener("submit", (e) => {
  e.preventDefault();
  const text = box.value;
  box.value = "";
  grow();
  quietly(submit(text));
});
let sent = false; // by the Enter key that is down
box.addEventListener("keydown", (e) => {
  sent = e.key === "Enter" && !e.shiftKey && !e.isComposing;
  if (!sent) return;
  e.preventDefault();
  $("composer").requestSubmit();
});
box.addEventListener("beforeinput", (e) => sent && e.inputType === "insertLineBreak" && e.preventDefault());
box.addEventListener("keyup", () => (sent = false));
box.addEventListener("input", grow);
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape" || e.isComposing) return;
  if (side.close()) return;
  stop();
});
$("stop").addEventListener("click", stop);
$("new").addEventListener("click", fresh);
$("older").addEventListener("click", async () => {
  try {
    const r = await socket.call("session.history", { session_id: session.session_id, before: talk.oldest });
    talk.older(r.messages, r.asked);
    $("older").hidden = !r.more;
    if (!r.more) $("scroll").focus();
  } catch (err) {
    say(err);
  }
});
$("scroll").addEventListener("scroll", () => ($("down").hidden = talk.pinned), { passive: true });
$("down").addEventListener("click", () => {
  talk.bottom(true);
  $("down").hidden = true;
  box.focus();
});

const secret = new URLSearchParams(location.hash.slice(1)).get("k");
if (secret) history.replaceState(null, "", location.pathname);
box.focus();
socket.start(secret);
