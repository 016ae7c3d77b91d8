// Hears what a document begins to show, for texts that are gone before anybody reads the page. Runs in a world of its
// own, which the page can neither see nor fool; changes nothing in it, and never reads the value of a form control.
// `tell` is the way out; SNAPSHOT is the function that reads every page here.
(() => {
  if (globalThis.recorder) return;
  const snapshot = SNAPSHOT;
  const UNREAD = "input, textarea, select, option, datalist, script, style, noscript, template, iframe, [contenteditable]:not([contenteditable=false])";
  const SEEN = { childList: true, subtree: true, characterData: true, attributes: true,
                 attributeFilter: ["class", "style", "hidden", "open", "aria-hidden"] };
  const APART = 50;   // milliseconds between two readings: no person reads faster
  const LATER = 250;  // for what was still hidden: a fade-in has begun by then
  const MOST_CHARACTERS = 20000;
  const waiting = new Map();  // what has changed -> how often it was looked at in vain
  const last = new WeakMap();
  const watched = new WeakSet();
  let timer = null;
  let shownAt = -APART;

  const hosts = (tree) => [...tree.querySelectorAll("*")].filter((element) => element.shadowRoot);
  const watch = (tree) => {
    if (watched.has(tree)) return;
    watched.add(tree);
    observer.observe(tree, SEEN);
    for (const host of hosts(tree)) watch(host.shadowRoot);
  };
  const elementOf = (node) =>
    node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement ?? node.getRootNode().host ?? null;
  const note = (node) => {
    const element = elementOf(node);
    if (!element || element.closest(UNREAD)) return;
    waiting.set(element, 0);
    timer ??= setTimeout(show, Math.max(0, shownAt + APART - performance.now()));
    if (element !== node) return;
    if (element.shadowRoot) watch(element.shadowRoot);
    for (const host of hosts(element)) watch(host.shadowRoot);
  };
  const take = (changes) => {
    for (const change of changes) {
      if (change.type === "childList") change.addedNodes.forEach(note);
      else note(change.target);
    }
  };
  const observer = new MutationObserver(take);

  const inline = (element) => /^(inline$|contents|ruby)/.test(getComputedStyle(element).display);
  const blockOf = (element) => {
    while (element.parentElement && inline(element)) element = element.parentElement;
    return element;
  };
  const within = (element, roots) => {
    for (let up = element.parentElement; up; up = up.parentElement) if (roots.has(up)) return true;
    return false;
  };
  const pieces = (root) => {
    let left = MOST_CHARACTERS;
    return snapshot(root, true).parts.map(([text]) => text).filter((text) => (left -= text.length) > 0);
  };
  const show = () => {
    clearTimeout(timer);
    timer = null;
    shownAt = performance.now();
    const tries = new Map();
    for (const [element, vain] of waiting) if (element.isConnected) tries.set(blockOf(element), vain);
    waiting.clear();
    for (const [root, vain] of tries) {
      if (within(root, tries)) continue;
      const read = pieces(root);
      const text = read.join("");
      if (!text.trim()) {
        if (vain < 2) waiting.set(root, vain + 1);
      } else if (last.get(root) !== text) {
        last.set(root, text);
        tell(JSON.stringify(read));
      }
    }
    if (waiting.size) timer = setTimeout(show, LATER);
  };

  watch(document);
  addEventListener("toggle", (event) => note(event.target), true);
  // What a page that is left has said is not heard any more at its `pagehide` (measured).
  addEventListener("beforeunload", () => { take(observer.takeRecords()); show(); }, true);
  globalThis.recorder = {
    // From now on; what is shown now is old.
    mark: () => {
      take(observer.takeRecords());
      show();
      waiting.clear();
      return JSON.stringify(document.documentElement ? pieces(document.documentElement) : []);
    },
    stop: () => { observer.disconnect(); clearTimeout(timer); waiting.clear(); },
  };
})()
