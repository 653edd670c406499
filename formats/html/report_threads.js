// Memory by the threads that allocated it: process, heap, thread, type.
//
// The file has sums of the whole trace for each heap and thread, without stacks, and those of the
// largest alone if there are very many. What is left of a heap is one more row.

const threads = new Map(); // by group: { thread, or -1, type, count, size }
{
  const numbers = new Numbers(report.threads);
  while (numbers.more) {
    const group = groups[numbers.next()];
    const one = { thread: numbers.next() - 1, type: numbers.next(), count: numbers.next(), size: numbers.next() };
    if (threads.has(group)) threads.get(group).push(one);
    else threads.set(group, [one]);
  }
}

const threadNames = new Map(report.thread_names.map(({ pid, thread, name }) => [`${pid}:${thread}`, name]));

// As processes are named: "Worker (8888)"; the id alone if the thread has no name.
function threadLabel(thread, group) {
  const name = threadNames.get(`${group.pid}:${thread}`);
  return name === undefined ? String(thread) : `${name} (${thread})`;
}

function threadText(thread, group) {
  return thread < 0 ? "Unknown thread" : `Thread ${threadLabel(thread, group)}`;
}

function addThreads(all) {
  const words = searchWords();
  for (const group of groups) {
    if (group.kind !== state.kind.kind || (state.group !== null && state.group !== group)) continue;
    const mine = threads.get(group) ?? [];
    const shown = groupMatches(group) ? mine : mine.filter((one) => threadText(one.thread, group).toLowerCase().includes(words));
    for (const one of shown) addThread(all, group, one);
    if (groupMatches(group)) addOtherThreads(all, group, mine);
  }
  const hidden = report.hidden_groups[state.kind.kind];
  if (state.group === null && words === "" && hidden)
    addHidden([all], `${count(hidden.rows)} other heaps`, null, hidden.types);
}

function addThread(all, group, { thread, type, count: amount, size }) {
  const types = [0, 0, 0, 0, 0, 0, 0, 0];
  types[2 * type] = amount;
  types[2 * type + 1] = size;
  const path = pathOfGroup(all, group);
  const node = childNode(path.at(-1), `t${thread}`, "Thread", threadText(thread, group));
  addTo([...path, node, typeNode(node, type)], sumsOfType(types, type));
}

function addOtherThreads(all, group, known) {
  const rest = [...group.types];
  for (const { type, count: amount, size } of known) {
    rest[2 * type] -= amount;
    rest[2 * type + 1] -= size;
  }
  if (rest.some((value) => value > 0)) addHidden(pathOfGroup(all, group), "Other threads", null, rest);
}

function threadHint() {
  const ignored = ignoredText(["window", "zoom"]);
  const command = fillCommand(report.thread_advice, {});
  return `${capital(fileWindow())}, by the thread that allocated. A search finds processes, heaps and threads here. ${ignored}${command}`;
}
