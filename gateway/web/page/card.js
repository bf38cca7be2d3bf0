// A question to the person: an approval with its buttons, or a text that is asked for.
import { element } from "./markdown.js";

const labels = { once: "Approve once", session: "For this session", always: "Always", deny: "Deny" };

let count = 0;

export class Card {
  /** @param answer sends the answer; it throws when it does not count. */
  constructor(q, answer) {
    this.q = q;
    this.answer = answer;
    const title = "card" + ++count;
    this.node = element("section", [element("h4", [q.title || "A question"], { id: title })], { class: "card", role: "group", "aria-labelledby": title });
    if (q.detail && q.detail !== q.title) this.node.append(this.detail());
    if (q.risk) this.node.append(element("p", ["Why you are asked: " + q.risk], { class: "quiet" }));
    this.form = element("form", [], { class: "choices", onsubmit: (e) => this.typed(e) });
    this.status = element("p", [], { class: "quiet", role: "status" });
    this.fill(title);
    this.node.append(this.form, this.status);
  }

  detail() {
    if (this.q.kind === "clarify") return element("p", [this.q.detail]);
    return element("pre", [element("code", [this.q.detail])], { class: "wide-box", tabindex: "0" });
  }

  fill(title) {
    if (this.q.kind === "approval") {
      for (const choice of this.q.choices) this.button(labels[choice] || choice, choice, choice === "once" ? "primary" : choice === "deny" ? "danger" : "");
      return;
    }
    for (const choice of this.q.choices || []) this.button(choice, choice, "");
    const hidden = this.q.kind === "sudo" || this.q.kind === "secret";
    this.input = element("input", [], { type: hidden ? "password" : "text", "aria-labelledby": title, autocomplete: "off" });
    this.form.append(this.input, element("button", ["Answer"], { class: "primary", type: "submit" }));
  }

  button(label, choice, kind) {
    this.form.append(element("button", [label], { type: "button", class: kind, onclick: () => this.send(choice) }));
  }

  typed(event) {
    event.preventDefault();
    if (this.input) this.send(this.input.value);
  }

  async send(value) {
    this.answering = this.node.contains(document.activeElement); // a control that is disabled loses the focus
    this.enable(false);
    this.status.textContent = "Sending…";
    try {
      await this.answer(this.q, value);
      if (!this.closed) this.status.textContent = "Sent.";
    } catch (err) {
      this.status.textContent = err.code === 4009 ? "Too late: somebody answered already, or the time was over." : "Not sent: " + err.message;
      this.enable(err.code !== 4009);
    }
  }

  enable(on) {
    for (const control of this.form.elements) control.disabled = !on;
  }

  /** retire takes the buttons away because the turn is over; how the question ended may be told later. */
  retire() {
    if (this.closed) return;
    this.answering ||= this.node.contains(document.activeElement);
    this.form.remove();
    this.node.classList.add("closed");
  }

  /** close takes the buttons away and says who answered, and when. */
  close(p) {
    if (this.closed) return;
    this.closed = true;
    const focused = this.answering || this.node.contains(document.activeElement);
    this.form.remove();
    const at = p.at ? new Date(p.at) : new Date();
    const words = p.message || (p.answer ? `${p.answer} (${p.by})` : "Answered.");
    this.status.replaceChildren(words + " ", element("time", [clock(at)], { datetime: at.toISOString() }));
    this.node.classList.add("closed");
    if (focused) document.getElementById("text").focus({ preventScroll: true });
  }
}

/** clock is a time of today, or a day with its time. */
function clock(at) {
  const time = { hour: "2-digit", minute: "2-digit" };
  if (at.toDateString() === new Date().toDateString()) return at.toLocaleTimeString([], time);
  return at.toLocaleString([], { day: "numeric", month: "short", ...time });
}
