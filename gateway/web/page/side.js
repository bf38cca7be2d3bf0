// The list of conversations. On a narrow screen it is a drawer.
import { element } from "./markdown.js";

const $ = (id) => document.getElementById(id);

export class Side {
  /** @param {{pick: (id: string) => void, fresh: () => void}} act */
  constructor(act) {
    this.act = act;
    this.sessions = [];
    $("menu").addEventListener("click", () => (this.isOpen ? this.close() : this.open()));
    $("shade").addEventListener("click", () => this.close());
    $("new").addEventListener("click", () => this.close(false));
  }

  async load(socket) {
    this.sessions = (await socket.call("session.list")).sessions;
    this.draw();
  }

  find(id) {
    return this.sessions.find((s) => s.session_id === id);
  }

  current(id) {
    this.open_id = id;
    this.draw();
  }

  mark(id, running) {
    const s = this.find(id);
    if (s && s.running !== running) {
      s.running = running;
      this.draw();
    }
  }

  draw() {
    const drawn = JSON.stringify([this.open_id, this.sessions.map((s) => [s.session_id, s.title, s.running, s.turns > 0, ago(s.updated)])]);
    if (drawn === this.drawn) return; // a button that is being pressed stays the same button
    this.drawn = drawn;
    const focused = document.activeElement?.dataset?.session;
    $("sessions").replaceChildren(...this.sessions.filter((s) => s.turns || s.running || s.title).map((s) => this.row(s)));
    if (focused) $("sessions").querySelector(`[data-session="${focused}"]`)?.focus();
  }

  row(s) {
    const about = [s.surface === "rpc" ? "" : s.surface, ago(s.updated)].filter(Boolean).join(" · ");
    const title = element("span", [s.title || "Untitled"], { class: "name" });
    const button = element("button", [title, element("span", [about], { class: "quiet" })], {
      type: "button", "data-session": s.session_id, onclick: () => this.pick(s.session_id) });
    if (s.session_id === this.open_id) button.setAttribute("aria-current", "page");
    if (s.running) button.append(element("span", [], { class: "dot", role: "img", "aria-label": "running" }));
    return element("li", [button]);
  }

  pick(id) {
    this.close(false);
    this.act.pick(id);
  }

  open() {
    this.isOpen = true;
    document.body.classList.add("drawer");
    $("menu").setAttribute("aria-expanded", "true");
    $("shade").hidden = false;
    document.querySelector("main").inert = true;
    $("new").focus();
  }

  /** close reports whether the drawer was open. */
  close(back = true) {
    if (!this.isOpen) return false;
    this.isOpen = false;
    document.body.classList.remove("drawer");
    $("menu").setAttribute("aria-expanded", "false");
    $("shade").hidden = true;
    document.querySelector("main").inert = false;
    if (back) $("menu").focus();
    return true;
  }
}

function ago(time) {
  const minutes = Math.max(0, (Date.now() - new Date(time)) / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return Math.floor(minutes) + " min";
  if (minutes < 24 * 60) return Math.floor(minutes / 60) + " h";
  return new Date(time).toLocaleDateString([], { day: "numeric", month: "short" });
}
