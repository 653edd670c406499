// What a static page shows, taken elsewhere: its tables as text for a mail or a spreadsheet, with exact
// numbers. A view asks the command for that instead.

// As spreadsheets read it; a cell that would be a formula is text.
function csvCell(text) {
  const safe = /^[=+@\t\r-]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function plainCell(text) {
  return text.replace(/\s+/g, " ").trim();
}

// A row names its call stack by its innermost functions; taken elsewhere it has all frames.
const rowFrames = new WeakMap();

function keepFrames(row, frames) {
  rowFrames.set(row, frames);
  return row;
}

function cellText(cell) {
  const copy = cell.cloneNode(true);
  for (const one of copy.querySelectorAll("button.row-menu, button.more, .twist, ol, .sr")) one.remove();
  return plainCell(copy.textContent);
}

function rowCells(row) {
  const cells = [...row.cells].map((cell) => {
    const exact = cell.dataset.value ?? cell.querySelector(":scope > [data-value]")?.dataset.value;
    return exact ?? cellText(cell);
  });
  const frames = rowFrames.get(row);
  if (frames !== undefined && frames.length > 0) cells.push(frames.map(frameText).join("; "));
  return cells;
}

// The rows of a table that are in sight, but for those below a row that are no rows of their own.
function tableLines(table) {
  const rows = [...table.rows].filter((row) => !row.matches(".more, .stack-row, .below"));
  return rows.map(rowCells);
}

function tablesText(body, separator) {
  const cell = separator === "," ? csvCell : plainCell;
  const end = separator === "," ? "\r\n" : "\n"; // RFC 4180
  return [...body.querySelectorAll("table")]
    .filter((table) => table.parentElement.closest("table") === null)
    .map((table) =>
      tableLines(table)
        .map((cells) => `${cells.map(cell).join(separator)}${end}`)
        .join(""),
    )
    .join(end);
}

function saveText(text, fileName) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text])), download: fileName });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
