// Records each text that a document begins to show, because it may be gone before the page is read. Runs in an isolated
// world, which the page can neither see nor fool. It changes nothing in the page and never reads a form control's value.
// `report` sends a text to Python; SNAPSHOT is the function that reads pages everywhere else, too.
(() => {
  if (globalThis.recorder) return;
  const snapshot = SNAPSHOT;
  const UNREAD = "input, textarea, select, option, datalist, script, style, noscript, template, iframe, [contenteditable]:not([contenteditable=false])";
  const SEEN = { childList: true, subtree: true, characterData: true, attributes: true,
                 attributeFilter: ["class", "style", "hidden", "open", "aria-hidden"] };
  const INTERVAL = 50;  // milliseconds between two readings: no person reads faster
  const RETRY_AFTER = 250;  // for an element that was still hidden: a fade-in has begun by then
  const MOST_CHARACTERS = 20000;
  const waiting = new Map();  // a changed element -> how often it was read while it still showed no text
  const last = new WeakMap();
  const watched = new WeakSet();
  let timer = null;
  let shownAt = -INTERVAL;

  const hosts = (tree) => [...tree.querySelectorAll("*")].filter((element) => element.shadowRoot);
  const watch = (tree) => {
    if (watched.has(tree)) return;
    watched.add(tree);
    observer.observe(tree, SEEN);
    for (const host of hosts(tree)) watch(host.shadowRoot);
  };
  const elementOf = (node) =>
    node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement ?? node.getRootNode().host ?? null;
  const queue = (node) => {
    const element = elementOf(node);
    if (!element || element.closest(UNREAD)) return;
    waiting.set(element, 0);
    timer ??= setTimeout(show, Math.max(0, shownAt + INTERVAL - performance.now()));
    if (element !== node) return;
    if (element.shadowRoot) watch(element.shadowRoot);
    for (const host of hosts(element)) watch(host.shadowRoot);
  };
  const queueAll = (changes) => {
    for (const change of changes) {
      if (change.type === "childList") change.addedNodes.forEach(queue);
      else queue(change.target);
    }
  };
  const observer = new MutationObserver(queueAll);

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
    for (const [element, misses] of waiting) if (element.isConnected) tries.set(blockOf(element), misses);
    waiting.clear();
    for (const [root, misses] of tries) {
      if (within(root, tries)) continue;
      const read = pieces(root);
      const text = read.join("");
      if (!text.trim()) {
        if (misses < 2) waiting.set(root, misses + 1);
      } else if (last.get(root) !== text) {
        last.set(root, text);
        report(JSON.stringify(read));
      }
    }
    if (waiting.size) timer = setTimeout(show, RETRY_AFTER);
  };

  watch(document);
  addEventListener("toggle", (event) => queue(event.target), true);
  // At `pagehide` it is too late: a binding called there no longer reaches Python (measured).
  addEventListener("beforeunload", () => { queueAll(observer.takeRecords()); show(); }, true);
  globalThis.recorder = {
    // Returns what is shown now; later texts are new.
    mark: () => {
      queueAll(observer.takeRecords());
      show();
      waiting.clear();
      return JSON.stringify(document.documentElement ? pieces(document.documentElement) : []);
    },
    stop: () => { observer.disconnect(); clearTimeout(timer); waiting.clear(); },
  };
})()
