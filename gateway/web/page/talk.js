// The open conversation: its turns by admission, in order, and what its events do to them.
import { Turn } from "./turn.js";
import { element } from "./markdown.js";

export class Talk {
  /**
   * @param {{log: HTMLElement, scroll: HTMLElement, act: object, news: (kind: string, text: string) => void,
   *   changed: () => void}} on  changed is called when a turn begins or ends.
   */
  constructor(on) {
    this.on = on;
    this.clear();
    on.scroll.addEventListener("scroll", () => {
      this.pinned = on.scroll.scrollHeight - on.scroll.scrollTop - on.scroll.clientHeight < 80;
    }, { passive: true });
  }

  clear() {
    this.turns = new Map();
    this.seq = 0;
    this.running = null;
    this.oldest = 0;
    this.pinned = true;
    this.on.log.replaceChildren();
  }

  /** turn returns the turn of an admission, made if need be. */
  turn(id) {
    let turn = this.turns.get(id);
    if (!turn) {
      turn = new Turn(this.on.act);
      this.turns.set(id, turn);
      this.on.log.append(turn.node);
    }
    return turn;
  }

  /** resume shows what session.resume answered. */
  resume(r) {
    this.clear();
    this.older(r.history, r.asked);
    for (const e of r.live) this.apply(e);
    for (const turn of this.turns.values()) turn.close();
    this.seq = r.seq;
    this.bottom(true);
  }

  /** older puts a page of messages before everything that is there, with what was asked in their turns. */
  older(messages, asked) {
    if (!messages.length) return;
    this.oldest = messages[0].id;
    const before = this.on.scroll.scrollHeight;
    const first = this.on.log.firstChild;
    for (const group of grouped(messages)) {
      const known = this.turns.get(group.id);
      const turn = known || new Turn(this.on.act);
      turn.history(group.messages);
      if (known) continue;
      this.turns.set(group.id, turn);
      this.on.log.insertBefore(turn.node, first);
    }
    for (const q of asked || []) this.turns.get(q.admission_id)?.wasAsked(q);
    if (first) {
      this.closeBefore(first);
      this.on.scroll.scrollTop += this.on.scroll.scrollHeight - before;
    }
  }

  closeBefore(node) {
    for (const turn of this.turns.values()) {
      if (turn.node.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) turn.close();
    }
  }

  /** hear takes one event, unless it was heard before. */
  hear(e) {
    if (e.seq) {
      if (e.seq <= this.seq) return;
      this.seq = e.seq;
    }
    this.apply(e);
    this.bottom(false);
  }

  apply(e) {
    const p = e.payload;
    switch (e.type) {
      case "message.start":
        this.running = e.admission_id;
        this.turn(e.admission_id).begin();
        this.on.changed();
        return;
      case "message.delta":
        return this.turn(e.admission_id).say(p.text);
      case "message.reset":
        return this.turn(e.admission_id).replace(p.text);
      case "message.interim":
        return this.turn(e.admission_id).seal(p.text, p.rendered);
      case "message.complete":
        return this.complete(e);
      case "tool.start":
        return this.turn(e.admission_id).tool(p.id, p.name, p.context);
      case "tool.progress":
        return this.turn(e.admission_id).progress(p.id, p.preview);
      case "tool.complete":
        return this.turn(e.admission_id).toolDone(p.id, p);
      case "approval.request":
      case "clarify.request":
      case "sudo.request":
      case "secret.request":
        if (this.turn(e.admission_id).ask(p)) this.on.news("urgent", `${p.title || "A question"} ${p.detail || ""}`);
        return;
      case "question.resolved":
        return this.turn(e.admission_id).resolved(p);
      case "status.update":
        if (p.kind === "steer") this.turn(e.admission_id).note(p.message);
        return;
      case "queue.update":
        return this.on.changed();
      case "error":
        return this.on.news("polite", p.message);
    }
  }

  complete(e) {
    this.turn(e.admission_id).end(e.payload);
    if (this.running === e.admission_id) this.running = null;
    const said = e.payload.status === "complete" ? e.payload.text : e.payload.status === "interrupted" ? "Stopped." : "This did not work.";
    this.on.news("polite", said);
    this.on.changed();
  }

  /** command shows a command and what it said. */
  command(text, rendered, said, buttons) {
    const node = element("li", [element("div", [element("p", [text])], { class: "asked" })], { class: "turn" });
    const turn = new Turn(this.on.act);
    turn.node.append(...node.childNodes);
    turn.stored({ text: said, rendered });
    turn.choices(buttons || []);
    this.on.log.append(turn.node);
    this.on.news("polite", said);
    this.bottom(true);
  }

  /** bottom keeps the newest in view while the person has not scrolled away from it. */
  bottom(force) {
    if (force) this.pinned = true;
    if (this.pinned) this.on.scroll.scrollTop = this.on.scroll.scrollHeight;
  }
}

/** grouped puts messages of one admission together, in order. */
function grouped(messages) {
  const out = [];
  for (const m of messages) {
    const id = m.admission_id || "message" + m.id;
    const last = out[out.length - 1];
    if (last && last.id === id) last.messages.push(m);
    else out.push({ id, messages: [m] });
  }
  return out;
}
