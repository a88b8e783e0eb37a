"use strict";
// Rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula is a text.
Q.csv = (rows) => {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^[=+@\t\r]|^-(?!$|[\d.])/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
};

Q.download = (name, text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = Q.el("a", { href: address, download: name.toLowerCase().replace(/[^a-z0-9.]+/g, "-") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

// A table of any length: only the rows in sight are in the document.
//
// columns: [{ title, text(row), key(row)?, number?, open?, class?(row) }]
// A whole one is short: all its rows are in the document, and their texts are wrapped.
Q.table = ({ title, columns, count, open, searchable = true, whole = false, height = 28, printed = 300 }) => {
  let order = [];
  let sorted = null;
  let descending = false;
  let current = -1;
  let words = [];
  let chips = [];
  let haystack = null;
  const all = Array.from({ length: count }, (_, row) => row);

  const body = Q.el("tbody");
  const buttons = columns.map((column, index) => Q.el("button", { type: "button", onclick: () => sortBy(index) }, column.title));
  const heads = columns.map((column, index) =>
    Q.el("th", { scope: "col", class: column.number ? "number" : "", "aria-sort": "none" }, buttons[index]));
  const table = Q.el("table", { "aria-label": title }, Q.el("thead", {}, Q.el("tr", { "aria-rowindex": 1 }, heads)), body);
  const grid = Q.el("div", { class: whole ? "grid whole" : "grid", tabindex: 0, role: "group", "aria-label": `${title}: arrow keys move, Enter opens` }, table);
  const status = Q.el("span", { role: "status", class: "amount" });
  const search = Q.el("input", { type: "search", placeholder: "Search", "aria-label": `Search ${title}`, oninput: () => find(search.value) });
  const chipBox = Q.el("span", { class: "chips" });
  const download = Q.el("button", { type: "button", "aria-label": `Download ${title} as CSV`, onclick: () => Q.download(`${title}.csv`, csv()) }, "CSV");
  const controls = [chipBox, searchable ? search : null, status, count ? download : null];

  // All rows that are not filtered away, in their order, with raw numbers.
  const csv = () => {
    const raw = (column, row) => (column.number && column.key ? column.key(row) : column.text(row));
    return Q.csv([columns.map((column) => column.title), ...order.map((row) => columns.map((column) => raw(column, row)))]);
  };

  const text = (row) => {
    if (!haystack) haystack = all.map((one) => columns.map((column) => column.text(one)).join("\n").toLowerCase());
    return haystack[row];
  };

  const filter = () => {
    order = all;
    for (const chip of chips) order = order.filter(chip.keeps);
    if (words.length) order = order.filter((row) => words.every((word) => text(row).includes(word)));
    if (sorted !== null) sort();
    current = -1;
    status.textContent = order.length === count ? Q.counted(count, "row") : `${Q.number(order.length)} of ${Q.counted(count, "row")}`;
    grid.scrollTop = 0;
    draw();
  };

  const sort = () => {
    const key = columns[sorted].key || columns[sorted].text;
    const keys = new Map(order.map((row) => [row, key(row)]));
    const sign = descending ? -1 : 1;
    const compare = (a, b) => {
      const x = keys.get(a);
      const y = keys.get(b);
      if (x === y) return a - b;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return x < y ? -sign : sign;
    };
    order = [...order].sort(compare);
  };

  const sortBy = (index) => {
    descending = sorted === index ? !descending : Boolean(columns[index].number);
    sorted = index;
    heads.forEach((head, position) => {
      const here = position === index;
      head.setAttribute("aria-sort", here ? (descending ? "descending" : "ascending") : "none");
      buttons[position].textContent = columns[position].title + (here ? (descending ? " ↓" : " ↑") : "");
    });
    filter();
  };

  let waiting = null;
  const find = (query) => {
    words = query.toLowerCase().split(/\s+/).filter(Boolean);
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  };

  const space = (rows) => Q.el("tr", { class: "space", "aria-hidden": "true" },
    Q.el("td", { colspan: columns.length, style: `height:${rows * height}px` }));

  const line = (row, position) => {
    const cells = columns.map((column) => {
      const shown = column.text(row);
      const classes = [column.number ? "number" : "", column.class ? column.class(row) : ""].join(" ").trim();
      const inside = column.open && open
        ? Q.el("button", { type: "button", class: "link", tabindex: -1, onclick: () => open(row) }, shown) : shown;
      return Q.el("td", { class: classes, title: shown.length > 40 ? shown : null }, inside);
    });
    return Q.el("tr", { class: position === current ? "row at" : "row", "aria-rowindex": position + 2, "data-row": row }, cells);
  };

  let printing = false;
  const draw = () => {
    table.setAttribute("aria-rowcount", order.length + 1);
    if (!order.length) {
      body.replaceChildren(Q.el("tr", {}, Q.el("td", { class: "empty", colspan: columns.length }, count ? "Nothing matches." : "None.")));
      return;
    }
    const seen = Math.ceil((grid.clientHeight || 440) / height);
    const first = printing || whole ? 0 : Math.max(0, Math.floor(grid.scrollTop / height) - 8);
    const end = whole ? order.length : Math.min(order.length, printing ? printed : first + seen + 16);
    const rows = [];
    for (let position = first; position < end; position += 1) rows.push(line(order[position], position));
    const rest = printing && end < order.length
      ? [Q.el("tr", {}, Q.el("td", { colspan: columns.length, class: "empty" }, `and ${Q.number(order.length - end)} more`))] : [space(order.length - end)];
    body.replaceChildren(space(first), ...rows, ...rest);
  };

  let frame = 0;
  grid.addEventListener("scroll", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  });
  new ResizeObserver(draw).observe(grid);

  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 };
  grid.addEventListener("keydown", (event) => {
    if (event.target !== grid) return;
    if (event.key in moves && order.length) {
      current = Math.min(order.length - 1, Math.max(0, current + moves[event.key]));
      const top = current * height;
      const room = grid.clientHeight - 2 * height;
      if (top < grid.scrollTop) grid.scrollTop = top;
      if (top > grid.scrollTop + room) grid.scrollTop = top - room;
      draw();
      const told = columns.slice(0, 4).map((column) => column.text(order[current])).join(", ");
      status.textContent = `Row ${current + 1} of ${Q.number(order.length)}: ${told}`;
      event.preventDefault();
    } else if (event.key === "Enter" && current >= 0 && open) {
      event.preventDefault(); // or the same key would press the dialog's button
      open(order[current]);
    }
  });

  addEventListener("beforeprint", () => { printing = true; draw(); });
  addEventListener("afterprint", () => { printing = false; draw(); });

  // Keeps only the rows that a condition holds for, until its chip is taken away.
  const narrow = (label, keeps) => {
    chips = [{ label, keeps }];
    const drop = Q.el("button", { type: "button", class: "chip", "aria-label": `Remove filter ${label}`, onclick: () => { chips = []; chipBox.replaceChildren(); filter(); } }, `${label} ✕`);
    chipBox.replaceChildren(drop);
    filter();
  };

  filter();
  return { grid, controls, narrow, redraw: draw };
};

// A short table, whole.
Q.small = (columns, rows, numbers = []) => {
  const cell = (tag) => (value, index) => Q.el(tag, { class: numbers.includes(index) ? "number" : "", scope: tag === "th" ? "col" : null }, value instanceof Node ? value : String(value ?? "–"));
  const head = Q.el("thead", {}, Q.el("tr", {}, columns.map(cell("th"))));
  const body = Q.el("tbody", {}, rows.map((row) => {
    const cells = row.cells || row;
    return Q.el("tr", { class: row.class }, cells.map(cell("td")));
  }));
  return Q.el("div", { class: "wide" }, Q.el("table", { class: "small" }, head, body));
};
