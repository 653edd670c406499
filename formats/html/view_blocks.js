// Single blocks, a page at a time, and the history of one address.
//
// A page is `allocations --top 100 --skip N`: the program sorts in a total order, so pages neither
// overlap nor leave blocks out. How many there are in all comes from `report --group-by kind`. The
// blocks of a row of the table are those with its keys (state.blocksOf). The command line has no
// filter for one whole stack, so for a stack they are those with its innermost function, and the
// page says so.

const BLOCKS_TOP = 100;
const HISTORY_TOP = 200;
const BLOCK_SORTS = ["address", "size", "lifetime", "alloc_time", "free_time", "type", "free_type", "thread"];

// Columns of a block; `sort` is the word of --sort.
const VIEW_BLOCK_COLUMNS = [
  { key: "address", sort: "address" },
  { key: "size", sort: "size" },
  { key: "type", sort: "type" },
  { key: "alloc_time_ns", sort: "alloc_time", why: "allocated before the trace" },
  { key: "free_time_ns", sort: "free_time", why: "not freed in the trace" },
  { key: "lifetime_ns", sort: "lifetime", why: "unknown: an end of it is not in the trace" },
  { key: "thread", sort: "thread" },
  { key: "stack", title: "Allocated By" },
];

// Handles have no sizes.
function blockColumns() {
  return VIEW_BLOCK_COLUMNS.filter(({ key }) => key !== "size" || state.kind !== "handle");
}

const blocks = { focus: null };

// --- state -----------------------------------------------------------------------------------------

const BLOCKS_OF_NAMES = ["process", "heap", "thread", "type", "size", "require-frame"];

function readBlocksOf(text) {
  if (text.length > TEXT_MAX) return undefined;
  const pairs = [...new URLSearchParams(text)].filter(
    ([name, value]) => BLOCKS_OF_NAMES.includes(name) && value !== "",
  );
  return pairs.length > 0 ? pairs : undefined;
}

function readBlocksSort(text) {
  return BLOCK_SORTS.includes(text.replace(/^-/, "")) ? text : undefined;
}

const ADDRESS_TEXT = /^(?:(\d{1,10}):)?(0x[0-9a-f]{1,16}(?:\.\.0x[0-9a-f]{1,16})?)$/i;

defineState("blocksOf", { default: null, read: readBlocksOf, write: (pairs) => String(new URLSearchParams(pairs)) });
defineState("blocksSort", { default: "size", read: readBlocksSort });
defineState("blocksSkip", { default: 0, read: (text) => (/^\d{1,12}$/.test(text) ? Number(text) : undefined) });
defineState("address", { default: null, read: (text) => (ADDRESS_TEXT.test(text) ? text : undefined) });

// From the menu of a row of the table.
function showBlocksOf(node) {
  const pairs = optionsOfNode(node, []).options;
  for (const one of pathToNode(node)) {
    const pattern = patternOfNode(one);
    if (pattern !== null) pairs.push(["require-frame", pattern]);
  }
  update({ blocksOf: pairs.length > 0 ? pairs : null, blocksSkip: 0 });
  byId("blocks").scrollIntoView();
}

// The last key of frames decides: several patterns would mean any of them.
function patternOfNode(node) {
  const { answer, row } = node.sample;
  if (STACK_KEYS.has(node.key) && node.key !== "free_stack")
    return framePattern(framesOfRow(answer, row, node.key)?.[0]);
  if (FRAME_KEYS.has(node.key) && node.key !== "free_site") return framePattern(answer.frames[row[node.key]]);
  return node.key === "module" && row.module !== null ? framePattern({ module: row.module, symbol: null }) : null;
}

// --- questions -------------------------------------------------------------------------------------

function blockFilters() {
  const own = state.blocksOf ?? [];
  const names = new Set(own.map(([name]) => name));
  const given = filterOptions({ window: true, kind: true, types: true });
  return [...given.filter(([name]) => !names.has(name) || name === "exclude-frame"), ...own];
}

function historyQuestion() {
  const [, pid, address] = ADDRESS_TEXT.exec(state.address);
  const options = [
    ["address", address],
    ["kind", state.kind],
    ["sort", "alloc_time"],
    ["top", String(HISTORY_TOP)],
  ];
  if (pid !== undefined) options.push(["process", pid]);
  return { command: "allocations", options };
}

function blockQuestions() {
  if (state.kind === null) return null;
  const filters = blockFilters();
  const page = [
    ["top", String(BLOCKS_TOP)],
    ["sort", state.blocksSort],
  ];
  if (state.blocksSkip > 0) page.push(["skip", String(state.blocksSkip)]);
  const questions = [
    { command: "allocations", options: [...page, ...filters] },
    { command: "report", options: [["group-by", "kind"], ["columns", "count"], ...filters] },
  ];
  return state.address === null ? questions : [...questions, historyQuestion()];
}

// --- rows ------------------------------------------------------------------------------------------

function blockCell(answer, block, { key, why }) {
  if (key === "stack") {
    const frame = stackFrames(answer, block.stack)[0];
    const text = frame === undefined ? NO_STACK_TEXT : frameText(frame);
    return make("td", { class: "site" }, ...breakable(text));
  }
  if (key === "type")
    return make("td", { class: "text", title: TYPE_TEXTS[block.type] }, `${block.type}${freeText(block)}`);
  if (key === "thread") {
    const name = block.thread_name ? ` ${block.thread_name}` : "";
    return make(
      "td",
      { title: isUnknown(block.thread) ? "unknown" : null },
      isUnknown(block.thread) ? UNKNOWN_TEXT : `${block.thread}${name}`,
    );
  }
  const cell = measureCell(key, block[key], why);
  cell.removeAttribute("role");
  return cell;
}

function freeText({ free_type }) {
  return free_type === "free" || free_type === "none" ? "" : `, ${free_type.replaceAll("-", " ")}`;
}

function blockListRow(answer, block, index, command) {
  const address = make(
    "button",
    { type: "button", class: "address", "aria-expanded": "false", title: "Show the call stack" },
    block.address ?? "unknown",
  );
  const actions = menuButton(() => blockMenu(answer, block), block.address);
  // A static page has a part of the blocks, whose places in the command's list it does not know.
  const place = source.isLive ? { "data-row": index, "data-command": command } : { "data-address": block.address };
  const row = make(
    "tr",
    place,
    make("th", { scope: "row", class: "name" }, address, actions),
    ...blockColumns()
      .slice(1)
      .map((column) => blockCell(answer, block, column)),
  );
  address.addEventListener("click", () => toggleBlock(row, address, answer, block));
  return keepFrames(row, stackFrames(answer, block.stack));
}

function stackOfBlock(title, answer, index) {
  const frames = stackFrames(answer, index);
  const shown = frames.length === 0 ? make("p", {}, "No stack was recorded.") : framesBox(frames);
  return make("div", {}, make("h3", {}, title), shown);
}

function toggleBlock(row, button, answer, block) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!isOpen));
  if (isOpen) return row.nextElementSibling.remove();
  const shown = [
    stackOfBlock(
      `Allocated in ${block.process ?? "unknown process"} (${block.pid ?? UNKNOWN_TEXT})`,
      answer,
      block.stack,
    ),
  ];
  if (!isUnknown(block.free_time_ns))
    shown.push(stackOfBlock(`Freed by thread ${block.free_thread ?? "unknown"}`, answer, block.free_stack));
  row.after(
    make("tr", { class: "stack-row" }, make("td", { class: "stack-cell", colspan: blockColumns().length }, ...shown)),
  );
}

function blockMenu(answer, block) {
  const items = [];
  if (block.address !== null) items.push({ label: "History of this address", act: () => showHistory(block) });
  for (const key of ["process", "heap", "type", "thread"]) items.push(...keyItems(block, key));
  if (!isUnknown(block.size)) items.push(rangeItem("size", String(block.size)));
  items.push(...frameItems(stackFrames(answer, block.stack)[0]));
  items.push({ label: "Copy", act: () => copyText(blockText(answer, block), "the block") });
  return items;
}

function blockText(answer, block) {
  const lines = Object.entries(block)
    .filter(([key]) => !["stack", "free_stack"].includes(key))
    .map(([key, value]) => `${WORDS[key] ?? key}: ${value ?? "unknown"}`);
  for (const [title, index] of [
    ["Allocated by", block.stack],
    ["Freed by", block.free_stack],
  ])
    if (!isUnknown(index))
      lines.push(`${title}:`, ...stackFrames(answer, index).map((frame) => `  ${frameText(frame)}`));
  return lines.join("\n");
}

function showHistory(block) {
  update({ address: `${block.pid === null ? "" : `${block.pid}:`}${block.address}` });
  byId("blocks").scrollIntoView();
}

// --- tables ----------------------------------------------------------------------------------------

function blockHead(isSorted) {
  const heads = blockColumns().map(({ key, sort, title }) => {
    const text = title ?? WORDS[key];
    const side = ["address", "type", "stack"].includes(key) ? "text" : null;
    if (!isSorted || sort === undefined) return make("th", { scope: "col", class: side }, text);
    const button = make("button", { type: "button", "data-sort": sort, onclick: () => sortBlocks(sort) }, text);
    return make("th", { scope: "col", class: side, "aria-sort": directionOf(sort) }, button);
  });
  return make("thead", {}, make("tr", {}, ...heads));
}

// Sizes, lifetimes and addresses come largest first, times earliest first; a dash reverses.
function directionOf(sort) {
  if (state.blocksSort.replace(/^-/, "") !== sort) return "none";
  const isUp = sort === "alloc_time" || sort === "free_time";
  return isUp === state.blocksSort.startsWith("-") ? "descending" : "ascending";
}

function sortBlocks(sort) {
  blocks.focus = `[data-sort="${sort}"]`;
  update({ blocksSort: state.blocksSort === sort ? `-${sort}` : sort, blocksSkip: 0 });
}

function blockTable(answer, command, isSorted, name) {
  const body = make("tbody", {});
  body.append(...answer.rows.map((block, i) => blockListRow(answer, block, i, command)));
  const shown = make("table", { class: "gold-table blocks-table", "aria-label": name }, blockHead(isSorted), body);
  return make("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": name }, shown);
}

function pageButton(label, skip, isPossible) {
  const act = () => {
    blocks.focus = `[data-page="${label}"]`;
    update({ blocksSkip: skip });
  };
  return make("button", { type: "button", "data-page": label, disabled: !isPossible || null, onclick: act }, label);
}

// How many of the blocks are on a static page, and what lists the others.
function blocksOnPage(answer, total, command) {
  if (source.isLive || total === 0) return [];
  const has = answer.on_page;
  const text =
    has >= total
      ? `All ${plural(total, "block")} of this selection are on this page.`
      : `${formatCount(has)} of the ${plural(total, "block")} of this selection are on this page: of each call stack the largest, first those that were not freed. To list all: `;
  return [make("p", { class: "note" }, text, has >= total ? null : make("code", {}, command))];
}

function blockPager(answer, all, totalCommand) {
  const total = source.isLive ? all : answer.on_page;
  const skip = state.blocksSkip,
    shown = answer.rows.length,
    last = Math.max(0, Math.floor((total - 1) / BLOCKS_TOP) * BLOCKS_TOP);
  const range = shown === 0 ? "No blocks" : `Blocks ${formatCount(skip + 1)} to ${formatCount(skip + shown)} of `;
  const place = source.isLive ? { "data-measure": "count", "data-row": 0, "data-command": totalCommand } : {};
  const sum = make("span", { "data-value": total, ...place }, formatCount(total));
  return make(
    "div",
    { class: "pager" },
    make("span", { role: "status" }, range, shown === 0 ? "" : sum),
    pageButton("First", 0, skip > 0),
    pageButton("Previous", Math.max(0, skip - BLOCKS_TOP), skip > 0),
    pageButton("Next", skip + BLOCKS_TOP, skip + shown < total),
    pageButton("Last", last, skip + shown < total),
    addressForm(),
  );
}

function addressForm() {
  const field = make("input", {
    type: "text",
    id: "block-address",
    placeholder: "0x1c0a5f82870",
    autocomplete: "off",
    spellcheck: "false",
  });
  field.value = state.address ?? "";
  const form = make(
    "form",
    {},
    make("label", { for: "block-address" }, "History of address"),
    field,
    make("button", { type: "submit" }, "Show"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim().toLowerCase();
    if (text !== "" && !ADDRESS_TEXT.test(text))
      return announce("An address is written as 0x1f0010, a range as 0x1f0000..0x1f1000");
    update({ address: text === "" ? null : text });
  });
  return form;
}

// --- the part --------------------------------------------------------------------------------------

function blocksOfNote() {
  if (state.blocksOf === null) return [];
  const texts = state.blocksOf.map(([name, value]) => filterText(name, value));
  const isStack = state.blocksOf.some(([name]) => name === "require-frame");
  const note = isStack ? " These are the blocks of all stacks with a matching frame, not of one stack alone." : "";
  return [
    make(
      "p",
      { class: "note" },
      `Blocks of one row of the table: ${texts.join(", ")}.${note} `,
      make(
        "button",
        { type: "button", class: "small", onclick: () => update({ blocksOf: null, blocksSkip: 0 }) },
        "All blocks",
      ),
    ),
  ];
}

function historyBox(answer, question) {
  const [, pid, address] = ADDRESS_TEXT.exec(state.address);
  const whose = pid === undefined ? "" : ` in process ${pid}`;
  const cut = answer.rows.length >= HISTORY_TOP ? ` The first ${HISTORY_TOP} are listed.` : "";
  const text = `${plural(answer.rows.length, "block")} of kind ${state.kind} held or overlapped it, over the whole trace.${cut}`;
  const title = `History of ${address}${whose}`;
  const shown =
    answer.rows.length === 0
      ? []
      : [blockTable(answer, source.commandFor(question.command, question.options), false, title)];
  return make(
    "div",
    { class: "history" },
    make("h3", {}, title),
    make(
      "p",
      { class: "note" },
      text,
      " ",
      make("button", { type: "button", class: "small", onclick: () => update({ address: null }) }, "Close"),
    ),
    ...shown,
  );
}

function drawBlocks(body, [answer, sums, history], context) {
  const [page, count, past] = context.questions;
  const total = sums.rows.reduce((sum, row) => sum + row.count, 0);
  const name = "Blocks, a page at a time";
  const shown =
    answer.rows.length > 0
      ? blockTable(answer, source.commandFor(page.command, page.options), true, name)
      : make("p", { class: "empty" }, emptyTable(answer));
  const listed = page.options.filter(([option]) => !["top", "skip", "sort"].includes(option));
  body.replaceChildren(
    ...blocksOfNote(),
    ...blocksOnPage(answer, total, source.commandFor(page.command, listed)),
    blockPager(answer, total, source.commandFor(count.command, count.options)),
    shown,
  );
  if (history !== undefined) body.append(historyBox(history, past));
  if (blocks.focus !== null) body.querySelector(blocks.focus)?.focus({ preventScroll: true });
  blocks.focus = null;
}

// A new selection begins with its first page.
onChange((changes) => {
  const isOther = ["from", "to", "kind", "filters", "input"].some((name) => name in changes);
  if (isOther && state.blocksSkip > 0) update({ blocksSkip: 0 }, { replace: true });
});

registerPart({
  id: "blocks",
  title: "Blocks",
  order: 65,
  needsBlocks: true,
  questions: blockQuestions,
  draw: drawBlocks,
  csv: true,
  text: true,
  lazy: true,
});
