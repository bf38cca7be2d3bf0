// Messages that wait for their turn, above the message box.
import { element } from "./markdown.js";

export class Queue {
  /** @param {{now: (id: string) => void, remove: (id: string, text: string) => void}} act */
  constructor(box, act) {
    this.box = box;
    this.list = box.querySelector("ol");
    this.act = act;
    this.items = [];
    this.rows = [];
    this.unsent = [];
  }

  /** hold shows messages that the gateway has not confirmed yet. */
  hold(messages) {
    this.unsent = messages;
    this.show(this.rows);
  }

  /** show shows the rows that queue.list answered. */
  show(rows) {
    this.rows = rows;
    const drawn = JSON.stringify([this.unsent, rows.map((r) => [r.admission_id, r.text, r.status])]);
    if (drawn === this.drawn) return; // a button that is being pressed stays the same button
    this.drawn = drawn;
    this.items = rows.filter((r) => r.status === "queued");
    const focused = document.activeElement?.closest?.("#queue li")?.dataset.id;
    const running = rows.length - this.items.length;
    this.list.replaceChildren(...this.items.map((row, i) => this.row(row, i + running)), ...this.unsent.map((m) => this.held(m)));
    this.box.hidden = !this.list.childNodes.length;
    if (focused && this.box.hidden) document.getElementById("text").focus();
    else if (focused) (this.list.querySelector(`[data-id="${focused}"] button`) || this.list.querySelector("button"))?.focus();
  }

  row(row, ahead) {
    const place = ahead === 0 ? "next" : ahead === 1 ? "1 before it" : `${ahead} before it`;
    return element("li", [
      element("span", [row.text], { class: "what" }),
      element("span", [place], { class: "place" }),
      element("button", ["Send now"], { class: "plain small", type: "button", "aria-label": "Send now: " + row.text, onclick: () => this.act.now(row.admission_id) }),
      element("button", ["Remove"], { class: "plain small", type: "button", "aria-label": "Remove: " + row.text, onclick: () => this.act.remove(row.admission_id, row.text) }),
    ], { "data-id": row.admission_id });
  }

  held(message) {
    return element("li", [element("span", [message.text], { class: "what" }), element("span", ["not sent yet"], { class: "place" })]);
  }

  text(id) {
    return this.items.find((r) => r.admission_id === id)?.text;
  }
}
