// Call trees that a static page works out of its cells, as `report --tree` and `--focus` print them:
// a flat list of nodes, each behind its parent, the largest of siblings first.
//
//     process
//       frame             frames of one function are one node, wherever in it they are
//         frame
//
// With a root, a path has the frames of a stack from the outermost one that matches, inwards or
// outwards; stacks without one have no path. A node too small to be shown is left out with all that
// is below it. Stacks that the page leaves out count in their process only.

const TREE_MILLION = 1e6;

function newTreeNode(parent, member) {
  return { parent, member, children: new Map(), value: 0, count: 0, ownValue: 0, ownCount: 0 };
}

// The frames of a path, in the order of the tree: [] is a stack that was not recorded; null: none.
function treePath(cells, stack, cut) {
  const frames = stack === null ? [] : cells.stacks[stack];
  const outermostFirst = frames.toReversed();
  if (cut.isRoot === null) return cut.inverted ? frames : outermostFirst;
  const at = outermostFirst.findIndex((frame) => cut.isRoot(cells.frames[frame]));
  if (at < 0) return null;
  const kept = cut.outwards ? outermostFirst.slice(0, at + 1) : outermostFirst.slice(at);
  return cut.inverted ? kept.toReversed() : kept;
}

function childOf(node, id, member) {
  if (!node.children.has(id)) node.children.set(id, newTreeNode(node, member));
  return node.children.get(id);
}

function addToTree(node, value, count) {
  node.value += value;
  node.count += count;
}

// The nodes of the items; those without a call stack on the page end at their process.
function growTree(cells, query, items, cut) {
  const top = newTreeNode(null, null);
  for (const item of items) {
    const value = item.sums[query.measure],
      count = item.sums[query.beside];
    const path = item.stack === undefined ? [] : treePath(cells, item.stack, cut);
    if (path === null || (item.stack === undefined && cut.isRoot !== null)) continue;
    const { kind, process, pid } = item.group;
    const member = query.keys.includes("process") ? { kind, process, pid } : { kind };
    let node = childOf(top, `${kind} ${member.process} ${member.pid}`, member);
    addToTree(node, value, count);
    if (item.stack === undefined) continue;
    if (path.length === 0) addToTree((node = childOf(node, "", { frame: null })), value, count);
    for (const frame of path) {
      node = childOf(node, functionOf(cells.frames[frame]), { frame });
      addToTree(node, value, count);
    }
    node.ownValue += value;
    node.ownCount += count;
  }
  return top;
}

function treeNode(query, node, parent, places) {
  const { measure, beside } = query;
  const { frame } = node.member;
  const member = "frame" in node.member ? { frame: frame === null ? null : places.frame(frame) } : node.member;
  return {
    parent,
    ...member,
    [measure]: node.value,
    [beside]: node.count,
    exclusive: { [measure]: node.ownValue, [beside]: node.ownCount },
  };
}

// Depth first; what is too small is left out.
function listTree(query, top, places) {
  const nodes = [];
  const visit = (node, parent, whole) => {
    const least = (Math.abs(whole) * query.treeMin * 1e4) / TREE_MILLION;
    if (node.value === 0 || Math.abs(node.value) < Math.floor(least)) return;
    const at = nodes.push(treeNode(query, node, parent, places)) - 1;
    const children = [...node.children.values()].sort((a, b) => b.value - a.value);
    for (const child of children) visit(child, at, whole);
  };
  const pidOf = ({ member }) => member.pid ?? Infinity;
  const roots = [...top.children.values()].sort((a, b) => b.value - a.value || pidOf(a) - pidOf(b));
  for (const root of roots) visit(root, null, root.value);
  return nodes;
}

// What the paths have together, by kind; exclusive: of stacks that end in the function.
function treeSums(cells, query, items, cut) {
  const { measure, beside } = query;
  const sums = new Map();
  for (const { group, stack, sums: own } of items) {
    if (stack === undefined || treePath(cells, stack, cut) === null) continue;
    if (!sums.has(group.kind))
      sums.set(group.kind, { kind: group.kind, [measure]: 0, [beside]: 0, exclusive: { [measure]: 0, [beside]: 0 } });
    const sum = sums.get(group.kind);
    const isOwn = stack !== null && cut.isRoot(cells.frames[cells.stacks[stack][0]]);
    for (const name of [measure, beside]) {
      sum[name] += own[name];
      sum.exclusive[name] += isOwn ? own[name] : 0;
    }
  }
  return [...sums.values()];
}

function treeFromCells(cells, given) {
  const measure = given.sort.replace(/^-/, "") in TREE_PAIRS ? given.sort.replace(/^-/, "") : "outstanding_size";
  const query = { ...given, measure, beside: TREE_PAIRS[measure] };
  const items = selectedItems(cells, query);
  const pattern = query.focus ?? query.root;
  const cut = {
    isRoot: pattern === null ? null : framePredicate(pattern),
    outwards: false,
    inverted: query.focus === null && query.tree === "callers",
  };
  const places = documentPlaces(cells);
  const isCut = items.some((item) => item.stack === undefined);
  const head = documentHead(cells, query, query.focus === null ? "etlheap-tree-1" : "etlheap-focus-1");
  const totals = totalsOf(cells, query, items);
  const tail = { frames: places.frames, totals, diagnostics: cells.document.diagnostics, is_cut: isCut };
  const sums = pattern === null ? {} : { sums: treeSums(cells, query, items, cut) };
  if (query.focus === null) {
    const nodes = listTree(query, growTree(cells, query, items, cut), places);
    return { ...head, begins_with: query.tree === "callers" ? "callers" : "callees", ...sums, nodes, ...tail };
  }
  const outwards = { ...cut, outwards: true, inverted: true };
  const callers = listTree(query, growTree(cells, query, items, outwards), places);
  const callees = listTree(query, growTree(cells, query, items, cut), places);
  return { ...head, focus: query.focus, ...sums, callers, callees, ...tail };
}
