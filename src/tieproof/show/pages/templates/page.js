"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const room = document.getElementById("queries");
  const body = room.querySelector("tbody");
  const heads = [...room.querySelectorAll("thead th")];
  const find = document.getElementById("find");
  const choice = document.getElementById("choice");
  const flagged = document.getElementById("flagged");
  const PAGE = 25;
  const NONE = 65535;

  function unpacked(column) {
    if (column.plain) return column.plain;
    const bytes = atob(column.packed);
    const values = new Float64Array(bytes.length / 2);
    for (let place = 0; place < values.length; place += 1) {
      const number = bytes.charCodeAt(2 * place) + 256 * bytes.charCodeAt(2 * place + 1);
      values[place] = number === NONE ? NaN : (number - column.offset) / column.scale;
    }
    return values;
  }

  function filled(columns) {
    const found = [];
    for (const column of columns) found.push(column === null ? found[found.length - 1] : text(column));
    return found;
  }

  function text(column) {
    const values = unpacked(column);
    const whole = column.scale === 1;
    return {
      values,
      shown: (place) => {
        const value = values[place];
        if (Number.isNaN(value)) return "–";
        return whole ? value.toLocaleString("en") : value.toFixed(4);
      },
    };
  }

  const ids = data.ids;
  const count = ids.length;
  const kinds = data.groups && unpacked(data.groups.of);
  const choices = data.choices.map((one) => ({ name: one.name, columns: filled(one.columns) }));
  const fixed = filled(data.fixed);
  const lead = data.groups ? 2 : 1;
  const searched = ids.map((id, place) => (kinds ? `${id}\n${data.groups.names[kinds[place]]}` : id).toLowerCase());

  let current = choices[0];
  let sorting = { head: -1, falling: false };
  let page = 0;
  let places = [];
  let opened = -1;

  function columnAt(head) {
    return head < lead + current.columns.length ? current.columns[head - lead] : fixed[head - lead - current.columns.length];
  }

  const collator = new Intl.Collator("en", { numeric: true });

  function order() {
    const words = find.value.trim().toLowerCase();
    const flags = flagged && flagged.checked ? fixed[data.flag].values : null;
    places = [];
    for (let place = 0; place < count; place += 1) {
      if ((!words || searched[place].includes(words)) && (!flags || flags[place] > 0)) places.push(place);
    }
    const { head, falling } = sorting;
    if (head < 0) return;
    const sign = falling ? -1 : 1;
    if (head < lead) {
      const names = head === 0 ? (place) => ids[place] : (place) => data.groups.names[kinds[place]];
      places.sort((a, b) => sign * collator.compare(names(a), names(b)) || a - b);
    } else {
      const { values } = columnAt(head);
      places.sort((a, b) => {
        const none = Number.isNaN(values[a]) - Number.isNaN(values[b]);
        return none || sign * (values[a] - values[b]) || a - b;
      });
    }
  }

  function cell(content, name) {
    const made = document.createElement("td");
    if (name) made.className = name;
    made.append(content);
    return made;
  }

  function details(place) {
    const row = document.createElement("tr");
    row.className = "opened";
    row.id = "opened";
    const inside = document.createElement("td");
    inside.colSpan = heads.length;
    const list = document.createElement("dl");
    for (const one of choices) {
      const pair = document.createElement("div");
      const term = document.createElement("dt");
      const value = document.createElement("dd");
      term.textContent = one.name;
      const shown = one.columns.map((column) => column.shown(place));
      value.textContent = new Set(shown).size === 1 ? shown[0] : shown.join(data.joined || " ≤ ");
      pair.append(term, value);
      list.append(pair);
    }
    inside.append(list);
    if (Object.hasOwn(data.anchors, ids[place])) {
      const anchor = data.anchors[ids[place]];
      const link = document.createElement("a");
      link.href = `#${anchor}`;
      link.addEventListener("click", () => { document.getElementById(anchor).open = true; });
      link.textContent = "The query and its nearest items";
      const paragraph = document.createElement("p");
      paragraph.className = "note";
      paragraph.append(link);
      inside.append(paragraph);
    }
    row.append(inside);
    return row;
  }

  function draw() {
    const first = page * PAGE;
    const shown = places.slice(first, first + PAGE);
    const rows = document.createDocumentFragment();
    for (const place of shown) {
      const row = document.createElement("tr");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = ids[place];
      button.dataset.place = place;
      button.setAttribute("aria-expanded", place === opened);
      row.append(cell(button, "name"));
      if (kinds) row.append(cell(data.groups.names[kinds[place]], "name"));
      for (let head = lead; head < heads.length; head += 1) row.append(cell(columnAt(head).shown(place)));
      rows.append(row);
      if (place === opened) rows.append(details(place));
    }
    body.replaceChildren(rows);
    const pages = Math.max(1, Math.ceil(places.length / PAGE));
    document.getElementById("back").disabled = page === 0;
    document.getElementById("on").disabled = page + 1 >= pages;
    const span = places.length ? `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")}` : "none";
    const all = places.length === count ? "" : ` that match, of ${count.toLocaleString("en")}`;
    document.getElementById("shown").textContent = `${span} of ${places.length.toLocaleString("en")}${all}`;
  }

  function restart() {
    page = 0;
    opened = -1;
    order();
    draw();
  }

  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      sorting = { head: place, falling: sorting.head === place ? !sorting.falling : false };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sorting.falling ? "descending" : "ascending");
      restart();
    });
  });
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const place = Number(button.dataset.place);
    opened = opened === place ? -1 : place;
    draw();
    body.querySelector(`button[data-place="${place}"]`).focus();
  });
  find.addEventListener("input", restart);
  find.form.addEventListener("submit", (event) => event.preventDefault());
  if (flagged) flagged.addEventListener("change", restart);
  if (choice) {
    choice.addEventListener("change", () => {
      current = choices[choice.selectedIndex];
      restart();
    });
  }
  document.getElementById("back").addEventListener("click", () => { page -= 1; draw(); });
  document.getElementById("on").addEventListener("click", () => { page += 1; draw(); });

  document.documentElement.classList.add("js");
  order();
  draw();
})();
