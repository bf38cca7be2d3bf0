// The connection to the gateway: JSON-RPC over a WebSocket that comes back by itself.

/** An error that the gateway answered, with its code. */
export class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.code = error.code;
  }
}

/** The connection broke before the answer came. */
export class Cut extends Error {}

export class Socket {
  /**
   * @param {{open: () => Promise<void>, event: (params: object) => void, state: (name: string) => void}} on
   * open is called on each new connection; state hears "online", "offline" and "refused".
   */
  constructor(on) {
    this.on = on;
    this.calls = new Map();
    this.next = 0;
    this.wait = 250;
    window.addEventListener("online", () => this.now());
    document.addEventListener("visibilitychange", () => document.hidden || this.now());
  }

  /** start trades the secret of the address, if there is one, and connects. */
  async start(secret) {
    this.secret = secret;
    await this.connect();
  }

  async connect() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.busy = true;
    try {
      await this.signIn();
      await this.dial();
      this.wait = 250;
      this.busy = false;
      this.on.state("online");
      await this.on.open();
    } catch (err) {
      this.busy = false;
      if (!(err instanceof Cut)) this.lost(err.refused ? "refused" : "offline");
    }
  }

  async signIn() {
    const answer = await fetch("/rpc/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ k: this.secret || "" }),
    });
    if (answer.status === 401) throw Object.assign(new Error("not signed in"), { refused: true });
    if (!answer.ok) throw new Error("the gateway is not ready");
    this.secret = "";
  }

  dial() {
    return new Promise((resolve, reject) => {
      const ws = new WebSocket(location.origin.replace(/^http/, "ws") + "/rpc");
      ws.onopen = () => {
        this.ws = ws;
        resolve();
      };
      ws.onmessage = (m) => this.take(JSON.parse(m.data));
      ws.onclose = () => {
        reject(new Error("closed"));
        if (this.ws === ws) this.lost("offline");
      };
    });
  }

  /** lost ends what is under way and tries again, each time a little later. */
  lost(why) {
    this.ws = null;
    for (const call of this.calls.values()) call.reject(new Cut("the connection was lost"));
    this.calls.clear();
    this.on.state(why);
    this.timer = setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2));
    this.wait = Math.min(this.wait * 1.7, why === "refused" ? 30000 : 5000);
  }

  /** now does not wait for the next attempt. */
  now() {
    if (!this.ws && this.timer && !this.busy) this.connect();
  }

  take(message) {
    if (message.method === "event") return this.on.event(message.params);
    const call = this.calls.get(message.id);
    if (!call) return;
    this.calls.delete(message.id);
    if (message.error) call.reject(new Refused(message.error));
    else if (call.first) call.resolve(call.first(message.result));
    else call.resolve(message.result);
  }

  /** call asks. first, if given, sees the result before any later message is handled. */
  call(method, params, first) {
    return new Promise((resolve, reject) => {
      if (!this.ws) return reject(new Cut("there is no connection"));
      const id = ++this.next;
      this.calls.set(id, { resolve, reject, first });
      this.ws.send(JSON.stringify({ jsonrpc: "2.0", id, method, params: params || {} }));
    });
  }
}
