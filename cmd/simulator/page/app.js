'use strict';

// The page shows one state after the other as the server sends them, and posts what the person does.
const $ = id => document.getElementById(id);
let state = null;      // the last one
let chat = location.hash.slice(1);
let about = null;      // {kind: 'reply' | 'edit', message}
let source = null;
let toasts = -1;
const drawn = new Map(); // message id -> {json, element}

function make(tag, props, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children.filter(Boolean));
  return e;
}

function hue(text) {
  let n = 0;
  for (const c of text) n = (n * 131 + c.codePointAt(0) * 47) % 360;
  return n;
}

function avatar(e, name) {
  e.textContent = [...name][0] || '?';
  e.style.setProperty('--hue', hue(name));
  return e;
}

async function act(name, what) {
  const r = await fetch('/do/' + name, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({chat: state.chat, as: $('as').value || state.people[0].id, ...what}),
  });
  if (!r.ok) toast('That did not work: ' + await r.text());
}

function toast(text) {
  $('toast').textContent = text;
  $('toast').classList.add('on');
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => $('toast').classList.remove('on'), 3000);
}

function connect(id) {
  if (source) source.close();
  chat = id;
  drawn.clear();
  toasts = -1;
  forget();
  $('log').replaceChildren();
  source = new EventSource('/events?chat=' + encodeURIComponent(id));
  source.onmessage = m => draw(JSON.parse(m.data));
  source.onerror = () => { $('status').textContent = 'reconnecting…'; };
}

function draw(next) {
  const fresh = !state || state.chat !== next.chat;
  state = next;
  location.hash = state.chat;
  document.title = state.title + ' · Simulator';
  $('title').textContent = state.title;
  avatar($('avatar'), state.title);
  $('status').textContent = state.typing ? state.bot + ' is typing…' : (state.private ? 'private chat' : 'group') + ' with ' + state.bot;
  $('status').classList.toggle('busy', state.typing);
  $('waiting').hidden = !state.waiting;
  $('waiting').textContent = state.waiting + ' waiting';
  if (toasts >= 0 && state.toasts > toasts) toast(state.toast);
  toasts = state.toasts;
  drawRooms();
  drawChoices(fresh);
  drawLog(fresh);
  drawCommands();
}

function drawRooms() {
  const json = JSON.stringify([state.chats, state.chat]);
  if (drawRooms.json === json) return;
  drawRooms.json = json;
  $('rooms').replaceChildren(...state.chats.map(r => {
    const b = make('button', {type: 'button', className: 'room'}, avatar(make('span', {className: 'avatar'}), r.title), make('b', {textContent: r.title}), make('span', {textContent: r.last || r.kind}));
    if (r.id === state.chat) b.setAttribute('aria-current', 'true');
    b.onclick = () => connect(r.id);
    return b;
  }));
}

function options(select, list) {
  const old = select.value;
  select.replaceChildren(...list.map(([value, name]) => make('option', {value, textContent: name})));
  if (list.some(([value]) => String(value) === old)) select.value = old;
}

function drawChoices(fresh) {
  if (!fresh) return;
  options($('as'), state.people.map(p => [p.id, p.name]));
  $('asbox').hidden = state.people.length < 2;
  options($('topic'), [[0, 'General'], ...(state.topics || []).map(t => [t.id, t.name])]);
  $('topicbox').hidden = !state.topics;
}

function drawLog(fresh) {
  const log = $('log');
  const low = fresh || log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const list = state.messages.map(m => {
    const json = JSON.stringify(m);
    let d = drawn.get(m.id);
    if (!d || d.json !== json) {
      const element = drawMessage(m);
      if (d) d.element.replaceWith(element);
      drawn.set(m.id, d = {json, element});
    }
    return d.element;
  });
  if (state.draft) list.push(drawDraft(state.draft));
  if (!list.length) list.push(make('li', {className: 'empty', textContent: state.private ? 'Say something to ' + state.bot + '.' : 'Write @bell_bot to speak to the bot.'}));
  list.forEach((e, i) => { if (log.children[i] !== e) log.insertBefore(e, log.children[i] || null); });
  while (log.children.length > list.length) log.lastChild.remove();
  if (low) log.scrollTop = log.scrollHeight;
}

function drawMessage(m) {
  const mine = !m.own && (state.private || m.from_id === $('as').value);
  const bubble = make('div', {className: 'bubble'});
  if (!state.private && !mine) {
    const name = make('div', {className: 'name', textContent: m.from + (m.topic ? ' · ' + m.topic : '')});
    name.style.setProperty('--hue', hue(m.from));
    bubble.append(name);
  }
  if (m.reply_to) bubble.append(drawReply(m.reply_to));
  if (m.file) bubble.append(make('span', {className: 'file', textContent: '📎 ' + m.file}));
  bubble.append(make('div', {className: 'body', innerHTML: m.html})); // escaped by the server
  const meta = make('div', {className: 'meta'}, m.edits ? make('span', {textContent: 'edited ×' + m.edits}) : null, make('span', {textContent: m.time}));
  bubble.append(meta);
  const li = make('li', {className: 'msg' + (mine ? ' me' : ''), id: 'm' + m.id, tabIndex: 0}, bubble, drawKeys(m));
  if (m.reaction) li.append(make('span', {className: 'react', textContent: m.reaction}));
  li.append(drawActs(m));
  return li;
}

function drawReply(id) {
  const to = state.messages.find(m => m.id === id);
  const b = make('button', {type: 'button', className: 'to', textContent: to ? to.from + ': ' + (to.text || to.file) : 'a message that is gone'});
  b.onclick = () => $('m' + id) && $('m' + id).scrollIntoView({block: 'center', behavior: 'smooth'});
  return b;
}

function drawKeys(m) {
  if (!m.buttons) return null;
  return make('div', {className: 'keys'}, ...m.buttons.map(row => make('div', {}, ...row.map(k => {
    const b = make('button', {type: 'button', className: k.style || '', textContent: k.text, title: k.callback_data});
    b.onclick = () => act('press', {message: m.id, data: k.callback_data});
    return b;
  }))));
}

function drawActs(m) {
  const button = (sign, label, f) => {
    const b = make('button', {type: 'button', textContent: sign, title: label});
    b.setAttribute('aria-label', label);
    b.onclick = f;
    return b;
  };
  return make('div', {className: 'acts'},
    button('↩', 'Reply', () => remember('reply', m)),
    m.own ? null : button('✎', 'Edit', () => remember('edit', m)),
    button('✕', 'Delete', () => act('delete', {message: m.id})));
}

function drawDraft(d) {
  const li = make('li', {className: 'msg draft'}, make('div', {className: 'bubble'}, make('div', {className: 'body', innerHTML: d.html})));
  if (d.stop) {
    const b = make('button', {type: 'button', className: 'danger', textContent: 'Stop'});
    b.onclick = () => act('stop', {});
    li.append(make('div', {className: 'keys'}, make('div', {}, b)));
  }
  return li;
}

function drawCommands() {
  const typed = $('text').value;
  const fit = typed.startsWith('/') && !typed.includes(' ') ? state.commands.filter(c => c.startsWith(typed.toLowerCase())) : [];
  $('commands').hidden = !fit.length;
  $('commands').replaceChildren(...fit.map(c => {
    const b = make('button', {type: 'button', textContent: c});
    b.onclick = () => { $('text').value = c + ' '; $('text').focus(); drawCommands(); };
    return b;
  }));
}

function remember(kind, message) {
  about = {kind, message};
  $('about').hidden = false;
  $('abouttext').textContent = (kind === 'edit' ? 'Editing: ' : 'Replying to ' + message.from + ': ') + (message.text || message.file);
  if (kind === 'edit') $('text').value = message.text;
  $('text').focus();
}

function forget() {
  about = null;
  $('about').hidden = true;
}

async function attached() {
  const f = $('file').files[0];
  if (!f) return {};
  const url = await new Promise((done, failed) => {
    const r = new FileReader();
    r.onload = () => done(r.result);
    r.onerror = failed;
    r.readAsDataURL(f);
  });
  return {file: url.slice(url.indexOf(',') + 1), name: f.name};
}

async function send(event) {
  event.preventDefault();
  const text = $('text').value.trim();
  const file = await attached();
  if (!text && !file.file) return;
  const was = about;
  $('text').value = '';
  $('file').value = '';
  $('file').parentElement.classList.remove('full');
  forget();
  drawCommands();
  if (was && was.kind === 'edit') await act('edit', {message: was.message.id, text});
  else await act('say', {text, topic: Number($('topic').value) || 0, reply_to: was ? was.message.id : 0, ...file});
}

$('write').onsubmit = send;
$('forget').onclick = forget;
$('text').oninput = drawCommands;
$('text').onkeydown = e => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) send(e);
  if (e.key === 'Escape') forget();
};
$('file').onchange = () => $('file').parentElement.classList.toggle('full', $('file').files.length > 0);
$('as').onchange = () => { drawn.clear(); $('log').replaceChildren(); drawLog(true); };
for (const b of document.querySelectorAll('[data-trouble]')) b.onclick = () => act('trouble', {text: b.dataset.trouble}).then(() => toast(b.textContent));
for (const b of document.querySelectorAll('[data-do]')) b.onclick = () => act(b.dataset.do, {}).then(() => toast(b.textContent));
window.onhashchange = () => { if (location.hash.slice(1) !== chat) connect(location.hash.slice(1)); };
connect(chat);
