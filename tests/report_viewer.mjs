// Runs a report's own script against the few DOM functions it uses, opens a session, prints what the page would show.
import { readFileSync } from "node:fs";

const page = readFileSync(process.argv[2], "utf8"), wanted = Number(process.argv[3]);

class Node {
  constructor(tag) { this.tag = tag; this.children = []; this.text = ""; this.className = ""; this.value = ""; this.checked = false; }
  set textContent(text) { this.text = String(text); this.children = []; }
  get textContent() { return this.text + this.children.map(c => c.textContent ?? String(c)).join("\n"); }
  append(...nodes) { this.children.push(...nodes); }
  replaceChildren(...nodes) { this.text = ""; this.children = nodes; }
  all(test) { return [...(test(this) ? [this] : []), ...this.children.flatMap(c => c instanceof Node ? c.all(test) : [])]; }
}
const byId = new Map();
for (const [, id, text] of page.matchAll(/<script type="[^"]*" id="([^"]+)">([\s\S]*?)<\/script>/g)) {
  byId.set(id, new Node("script"));
  byId.get(id).textContent = text;
}
const body = new Node("tbody");
globalThis.document = {
  getElementById: id => byId.get(id) ?? byId.set(id, new Node(id)).get(id),
  createElement: tag => new Node(tag),
  querySelector: () => body,
  querySelectorAll: () => [],
};
const script = page.match(/<script>\s*"use strict";([\s\S]*?)<\/script>/)[1];
// the page's functions, reachable from here
const { open, filter } = new Function(script + "\nreturn { open, filter };")();
await open(wanted);
const session = byId.get("session");
const count = name => session.all(n => n.className === name).length;
byId.get("verdict").value = "pass";
filter();
console.log(JSON.stringify({
  rows: body.children.length, passing: byId.get("page").textContent, text: session.textContent,
  turns: count("turn"), compactions: count("compaction"), added: count("add"), removed: count("del"), kept: count("same"),
}));
