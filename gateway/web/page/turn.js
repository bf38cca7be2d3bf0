// One turn on the page: what the person wrote, what the agent does, and its answer.
import { element, Live } from "./markdown.js";
import { safe } from "./safe.js";
import { Card } from "./card.js";

const verbs = { shell: "Running a command", file: "Working with files", web: "Looking on the web", todo: "Planning" };

export class Turn {
  /** @param {{answer: (card: Card, choice: string) => Promise<void>, again: (text: string) => void}} act */
  constructor(act) {
    this.act = act;
    this.tools = new Map();
    this.cards = new Map();
    this.state = "new"; // new, running, done
    this.node = element("li", [], { class: "turn" });
    this.body = element("div", [], { class: "answer" });
    this.doing = element("span", ["Thinking"]);
    this.busy = element("p", [element("span", [], { class: "dots", "aria-hidden": "true" }), this.doing], { class: "busy" });
  }

  /** asked shows what the person wrote. */
  asked(text, author) {
    if (this.question) return;
    this.prompt = text;
    this.question = element("div", [element("h3", [author || "You"], { class: "hidden" }), element("p", [text])], { class: "asked" });
    this.node.prepend(this.question);
  }

  /** begin shows that the agent is at work. */
  begin() {
    if (this.state === "done") return;
    this.state = "running";
    this.frame();
    this.body.append(this.busy);
  }

  frame() {
    if (this.body.isConnected || this.body.parentNode) return;
    this.node.append(element("h3", ["Bellhop"], { class: "hidden" }), this.body);
  }

  say(text) {
    if (this.state === "done") return;
    this.frame();
    if (!this.text) {
      this.text = element("div", [], { class: "text live" });
      this.live = new Live(this.text);
      this.body.insertBefore(this.text, this.busy.parentNode ? this.busy : null);
    }
    this.live.add(text);
    this.busy.classList.add("writing");
  }

  /** replace makes text what the message under way says. */
  replace(text) {
    if (this.live) this.live.set(text);
    else this.say(text);
  }

  /** seal ends the message under way; what comes stands below it. */
  seal(text, rendered) {
    if (this.state === "done") return;
    if (!this.text && text) this.say(text);
    if (this.text && rendered) this.text.replaceChildren(safe(rendered));
    if (this.text) this.text.classList.remove("live");
    this.text = this.live = null;
    this.busy.classList.remove("writing");
  }

  tool(id, name, context) {
    if (this.state === "done" || this.tools.has(id)) return;
    this.seal("", "");
    this.frame();
    const label = verbs[name] || name.replaceAll("_", " ");
    const mark = element("span", [], { class: "mark", role: "img", "aria-label": "running" });
    const detail = element("span", [context || ""], { class: "detail" });
    const box = element("details", [element("summary", [mark, element("span", [label], { class: "verb" }), detail])], { class: "tool" });
    this.tools.set(id, { box, mark, detail });
    this.body.insertBefore(box, this.busy.parentNode ? this.busy : null);
  }

  progress(id, preview) {
    const tool = this.tools.get(id);
    if (!tool || !preview) return;
    tool.out ||= tool.box.appendChild(element("pre", [], { class: "wide-box", tabindex: "0" }));
    tool.out.textContent = preview;
  }

  toolDone(id, p) {
    const tool = this.tools.get(id);
    if (!tool) return;
    tool.box.classList.add("done");
    tool.mark.setAttribute("aria-label", "done");
    if (p.duration >= 0.1) tool.box.firstChild.append(element("span", [p.duration.toFixed(1) + " s"], { class: "time" }));
    if (p.summary || p.inline_diff) {
      tool.out?.remove();
      tool.box.append(element("pre", [[p.summary, p.inline_diff].filter(Boolean).join("\n\n")], { class: "wide-box", tabindex: "0" }));
    }
  }

  /** ask shows a question; it returns the card when it is new. */
  ask(q) {
    if (this.cards.has(q.request_id)) return null;
    this.frame();
    const card = new Card(q, this.act.answer);
    this.cards.set(q.request_id, card);
    this.body.insertBefore(card.node, this.busy.parentNode ? this.busy : null);
    this.doing.textContent = "Waiting for your answer";
    return card;
  }

  /** wasAsked shows a question of the history with how it ended, before the call that it was about. */
  wasAsked(q) {
    if (this.cards.has(q.request_id)) return;
    this.frame();
    const card = new Card(q, this.act.answer);
    card.close(q);
    this.cards.set(q.request_id, card);
    const texts = this.body.querySelectorAll(":scope > .text");
    this.body.insertBefore(card.node, this.tools.get(q.call_id)?.box || texts[texts.length - 1] || null);
  }

  /** choices shows the buttons of a command's answer, row by row. */
  choices(buttons) {
    if (!buttons.length) return;
    const status = element("p", [], { class: "quiet", role: "status" });
    const rows = [];
    for (const b of buttons) (rows[b.row || 0] ||= element("div", [], { class: "choices" })).append(this.choice(b, status));
    this.body.append(...rows.filter(Boolean), status);
  }

  choice(b, status) {
    const button = element("button", [b.label], { type: "button", class: b.style || "" });
    button.onclick = async () => {
      button.disabled = true;
      status.textContent = "Sending…";
      try {
        status.textContent = (await this.act.press(b.data)) || "Done.";
      } catch (err) {
        status.textContent = "That did not work: " + err.message + ".";
        button.disabled = false;
      }
      document.getElementById("text").focus({ preventScroll: true }); // a control that is disabled loses the focus
    };
    return button;
  }

  resolved(p) {
    this.cards.get(p.request_id)?.close(p);
    if ([...this.cards.values()].every((card) => card.closed)) this.doing.textContent = "Thinking";
  }

  /** end shows the answer as it is stored. What was seen of an interrupted one stays. */
  end(p) {
    if (this.state === "done") return;
    const whole = p.status === "complete" || p.status === undefined;
    if (whole || !this.text) this.seal(p.text, p.rendered);
    else this.seal("", "");
    this.state = "done";
    this.busy.remove();
    this.frame();
    for (const card of this.cards.values()) card.retire();
    for (const { box, mark } of this.tools.values()) {
      if (!box.classList.contains("done")) {
        box.classList.add("cut");
        mark.setAttribute("aria-label", "not finished");
      }
    }
    this.last = p.text || "";
    if (p.status === "interrupted") this.note("Stopped.");
    if (p.status === "error") this.note("This did not work. Your message is safe.", "bad");
    if (p.warning) this.note(p.warning);
    this.actions(p.status);
  }

  note(text, kind) {
    this.body.append(element("p", [text], { class: "note " + (kind || "") }));
  }

  actions(status) {
    const row = element("div", [], { class: "actions" });
    if (this.last && navigator.clipboard) {
      const copy = element("button", ["Copy"], { class: "plain small", type: "button", onclick: async () => {
        await navigator.clipboard.writeText(this.last);
        copy.textContent = "Copied";
        setTimeout(() => (copy.textContent = "Copy"), 1500);
      } });
      row.append(copy);
    }
    if (status && status !== "complete" && this.prompt) {
      row.append(element("button", ["Try again"], { class: "plain small", type: "button", onclick: () => this.act.again(this.prompt) }));
    }
    if (row.childNodes.length) this.body.append(row);
  }

  /** history shows stored messages of this turn. */
  history(messages) {
    for (const m of messages) {
      if (m.role === "user") this.asked(m.text);
      if (m.role === "assistant") this.stored(m);
      if (m.role === "tool") this.toolDone(m.call_id, { summary: m.text });
    }
  }

  stored(m) {
    this.frame();
    if (m.text) {
      this.body.append(element("div", [m.rendered ? safe(m.rendered) : element("p", [m.text])], { class: "text" }));
      this.last = m.text;
    }
    for (const call of m.calls || []) this.tool(call.id, call.name, short(call.args));
  }

  /** close ends a turn that came from the history. */
  close() {
    if (this.state !== "new") return;
    this.state = "done";
    for (const { box, mark } of this.tools.values()) {
      box.classList.add("done");
      mark.setAttribute("aria-label", "done");
    }
    if (this.body.parentNode) this.actions();
  }
}

/** short is the first text among a call's arguments. */
function short(args) {
  const texts = Object.values(args || {}).filter((v) => typeof v === "string");
  return texts.length ? texts[0].split("\n")[0] : "";
}
