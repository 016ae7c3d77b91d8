// Reads one document: its visible text with boxes, its tables, the way to the next page. It changes nothing, and
// never reads the value of a form control. Called with the root element; `textOnly`: the text and nothing else.
(root, textOnly) => {
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "TEXTAREA", "SELECT", "OPTION", "INPUT", "DATALIST", "IFRAME", "OBJECT"]);
  const NOT_TEXT = ["checkbox", "radio", "button", "submit", "reset", "image", "hidden"];
  const NEXT = /^(next( page)?|more|load more|show more|older|weiter|suivant|siguiente|далее|ещё|›|»|→|>|>>)\s*[›»→>]*$/i;
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const boxOf = (rect) => (rect && rect.width && rect.height ? [rect.x, rect.y, rect.width, rect.height] : null);
  const inline = (element) => /^(inline|contents|ruby)/.test(getComputedStyle(element).display);
  const edited = (element) => element.isContentEditable;

  const below = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.tagName === "SLOT" && node.assignedNodes().length) return node.assignedNodes();
    return node.childNodes;
  };
  const read = (node, parts) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const parent = node.parentElement ?? node.getRootNode().host;
      if (!parent || !shown(parent)) return;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = boxOf(range.getBoundingClientRect());
      if (box || !node.data.trim()) parts.push([node.data, box]);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      if (SKIPPED.has(node.tagName) || edited(node)) return;
      const breaks = node.tagName === "BR" || !inline(node);
      if (breaks) parts.push(["\n", null]);
      for (const child of below(node)) read(child, parts);
      if (breaks) parts.push(["\n", null]);
    }
  };
  const textOf = (element) => {
    const parts = [];
    read(element, parts);
    return parts.map((part) => part[0]).join("").replace(/\s+/g, " ").trim();
  };
  const all = (selector, within = root) => {
    const found = [...within.querySelectorAll(selector)];
    for (const element of within.querySelectorAll("*")) {
      if (element.shadowRoot) found.push(...all(selector, element.shadowRoot));
    }
    return found;
  };

  // A form control in a cell holds what a person typed or the site filled in: its value isn't read, so the cell is opaque.
  const opaque = (cell) =>
    edited(cell) ||
    [...cell.querySelectorAll("input, textarea, select, [contenteditable]")].some(
      (control) => control.tagName !== "INPUT" || !NOT_TEXT.includes(control.type),
    );
  const isHead = (cell) => cell.tagName === "TH" || cell.getAttribute("role") === "columnheader";
  const cellsOf = (row) =>
    row.cells ? [...row.cells] : [...row.querySelectorAll("[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]")];
  // A cell that spans columns or rows stands in each of its places.
  const placed = (rows) => {
    const carried = [];
    return rows.map((row) => {
      const places = [];
      const waiting = cellsOf(row);
      for (let column = 0; waiting.length || carried.some((c, i) => i >= column && c && c.left > 0); column++) {
        if (carried[column] && carried[column].left > 0) {
          carried[column].left--;
          places[column] = carried[column].cell;
          continue;
        }
        const cell = waiting.shift();
        if (!cell) { places[column] = null; continue; }
        for (let i = 0; i < (cell.colSpan || 1); i++) {
          places[column + i] = cell;
          carried[column + i] = { cell, left: (cell.rowSpan || 1) - 1 };
        }
        column += (cell.colSpan || 1) - 1;
      }
      return places;
    });
  };
  const tableOf = (table) => {
    const rows = table.rows
      ? [...table.rows].filter((row) => row.parentElement.tagName !== "TFOOT")
      : [...table.querySelectorAll("[role=row]")].filter((row) => row.closest("[role=table],[role=grid],[role=treegrid]") === table);
    const grid = placed(rows);
    let head = -1;
    for (let i = 0; i < rows.length; i++) {
      const cells = cellsOf(rows[i]);
      const top = rows[i].parentElement.tagName === "THEAD" || (cells.length && cells.every(isHead));
      if (!top) break;
      head = i;
    }
    const told = table.getAttribute("aria-rowcount");
    return {
      headers: head < 0 ? [] : grid[head].map((cell) => (cell ? textOf(cell) : "")),
      virtual: told !== null && (Number(told) < 0 || Number(told) > rows.length),
      // A single cell across the whole table is a remark ("No invoices yet"), not a row.
      rows: rows.map((row, i) => [row, grid[i]]).slice(head + 1).filter(([row]) => head < 0 || grid[head].length < 2 || cellsOf(row).length > 1)
        .map(([row, cells]) => ({
          cells: cells.map((cell) => (cell ? textOf(cell) : "")),
          opaque: cells.flatMap((cell, column) => (cell && opaque(cell) ? [column] : [])),
          box: boxOf(row.getBoundingClientRect()),
          link: row.querySelector("a[href]")?.href ?? null,
          shown: shown(row),
        })),
    };
  };

  const dead = (element) =>
    element.disabled || element.getAttribute("aria-disabled") === "true" || element.closest(".disabled, [aria-disabled=true]");
  const nextOf = () => {
    const here = location.href.split("#")[0];
    for (const link of all("link[rel~=next][href], a[rel~=next][href]")) {
      if (!dead(link)) return { href: link.href };
    }
    for (const door of all("a, button, [role=button], [role=link]")) {
      const name = (door.getAttribute("aria-label") ?? textOf(door)).trim();
      if (!NEXT.test(name) || dead(door) || !shown(door)) continue;
      const href = door.tagName === "A" && /^https?:/.test(door.href) ? door.href : null;
      if (href && href.split("#")[0] !== here) return { href };
      return { blocked: name };
    }
    return null;
  };

  // When the answer that brought this document began to come, in ms since 1970; null where the browser doesn't tell.
  const bornAt = () => {
    const came = performance.getEntriesByType("navigation")[0];
    return came?.responseStart ? performance.timeOrigin + came.responseStart : null;
  };

  // Other pages of this very list: links to the same path with another query, named by a number or by nothing at all.
  const pagesOf = () => {
    const here = new URL(location.href);
    const another = (href) => {
      const there = new URL(href);
      return there.origin === here.origin && there.pathname === here.pathname && there.search !== here.search;
    };
    const numbered = (link) => /^\d+$/.test((link.getAttribute("aria-label") ?? textOf(link)).replace(/^(page|seite|p\.)\s*/i, "").trim());
    const icon = (link) => !textOf(link) && [...new URL(link.href).searchParams.keys()].some((name) => /^(page|p|pg|offset|start|from|skip|cursor|after)$/i.test(name));
    return [...new Set(all("a[href]").filter((link) => /^https?:/.test(link.href) && another(link.href) && !dead(link) && (numbered(link) || icon(link))).map((link) => link.href.split("#")[0]))];
  };

  const parts = [];
  read(root, parts);
  if (textOnly) return { parts };
  return {
    parts,
    tables: all("table, [role=table], [role=grid], [role=treegrid]").filter(shown).map(tableOf),
    next: nextOf(),
    pages: pagesOf(),
    born: bornAt(),
    asks_password: all("input[type=password]").some(shown),
    busy: all("[aria-busy=true], [role=progressbar]:not([aria-valuenow]), [class*=spinner], [class*=skeleton]").some(shown),
    scripted: [...document.scripts].some((script) => !script.type || /module|javascript/i.test(script.type)),
  };
}
