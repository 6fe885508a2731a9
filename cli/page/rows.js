// The rows of the timeline and their levels of detail. A layer is a list of spans sorted by start; above it stand levels, each node of
// which says for eight of the level below where they begin and end, how long they were busy and what they mostly were. Drawing stops at
// nodes that are smaller than a pixel, so a frame costs pixels, not tasks.

const fanOut = 8;

function makeLayer(what, ids, start, end, shadeOf) { return {what, all: ids, ids, start, end, shadeOf, levels: []}; }

function dominant(sums) {
  let best = 0;
  for (let i = 1; i < sums.length; ++i)
    if (sums[i] > sums[best]) best = i;
  return best;
}

// `spans`: how many of them a node stands for.
function emptyLevel(n, spans) {
  return {n, spans, from: new Float64Array(n), to: new Float64Array(n), busy: new Float64Array(n), shade: new Uint8Array(n)};
}

function firstLevel({ids, start, end, shadeOf}) {
  const level = emptyLevel(Math.ceil(ids.length / fanOut), fanOut);
  const sums = new Float64Array(kindKeys.length);
  for (let node = 0; node < level.n; ++node) {
    sums.fill(0);
    const last = Math.min(ids.length, (node + 1) * fanOut);
    let to = 0, busy = 0;
    for (let i = node * fanOut; i < last; ++i) {
      const id = ids[i], length = end[id] - start[id];
      if (end[id] > to) to = end[id];
      busy += length;
      sums[shadeOf(id)] += length + 1;
    }
    level.from[node] = start[ids[node * fanOut]];
    level.to[node] = to;
    level.busy[node] = busy;
    level.shade[node] = dominant(sums);
  }
  return level;
}

function nextLevel(below) {
  const level = emptyLevel(Math.ceil(below.n / fanOut), below.spans * fanOut);
  const sums = new Float64Array(kindKeys.length);
  for (let node = 0; node < level.n; ++node) {
    sums.fill(0);
    const last = Math.min(below.n, (node + 1) * fanOut);
    let to = 0, busy = 0;
    for (let i = node * fanOut; i < last; ++i) {
      if (below.to[i] > to) to = below.to[i];
      busy += below.busy[i];
      sums[below.shade[i]] += below.busy[i] + 1;
    }
    level.from[node] = below.from[node * fanOut];
    level.to[node] = to;
    level.busy[node] = busy;
    level.shade[node] = dominant(sums);
  }
  return level;
}

function buildLevels(layer) {
  layer.levels = [firstLevel(layer)];
  while (layer.levels.at(-1).n > fanOut) layer.levels.push(nextLevel(layer.levels.at(-1)));
}

// Calls span(id) for spans that touch [from, to], and node(level, index) for nodes not longer than `smallest`, left to right by start.
function walk(layer, from, to, smallest, span, node) {
  const {ids, start, end, levels} = layer;
  const descend = (depth, index) => {
    const level = levels[depth];
    if (level.to[index] < from || level.from[index] > to) return;
    if (level.to[index] - level.from[index] <= smallest) return node(level, index);
    if (depth > 0) {
      const last = Math.min(levels[depth - 1].n, (index + 1) * fanOut);
      for (let i = index * fanOut; i < last; ++i) descend(depth - 1, i);
    } else {
      const last = Math.min(ids.length, (index + 1) * fanOut);
      for (let i = index * fanOut; i < last; ++i) {
        const id = ids[i];
        if (start[id] <= to && end[id] >= from) span(id);
      }
    }
  };
  for (let i = 0; i < levels.at(-1).n; ++i) descend(levels.length - 1, i);
}

// The index in layer.ids of the first span that starts behind `at`.
function firstBehind({ids, start}, at) {
  let low = 0, high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[ids[middle]] > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Deals the numbers 0..n-1 out to `piles` lists, keeping their order; pileOf(i) < 0: to none.
function deal(n, piles, pileOf) {
  const counts = new Uint32Array(piles);
  for (let i = 0; i < n; ++i) {
    const pile = pileOf(i);
    if (pile >= 0) ++counts[pile];
  }
  const lists = Array.from(counts, (length) => new Uint32Array(length));
  counts.fill(0);
  for (let i = 0; i < n; ++i) {
    const pile = pileOf(i);
    if (pile >= 0) lists[pile][counts[pile]++] = i;
  }
  return lists;
}

// Most lists are in order as they are.
function sortBy(ids, when) {
  for (let i = 1; i < ids.length; ++i)
    if (when[ids[i]] < when[ids[i - 1]]) return ids.sort((a, b) => when[a] - when[b]);
  return ids;
}

function streamLabel(stream) {
  return `stream ${stream.id}${meta.streams.some((other) => other.device !== stream.device) ? ` · device ${stream.device}` : ''}`;
}

// What threads asked for, a layer for each stream they asked: tasks of one stream are submitted in the order in which they start.
function submitLayers(trace) {
  const {tasks, classes} = trace;
  const pairs = new Map(), pairOfClass = new Int32Array(classes.n).fill(-1), layersOf = meta.threads.map(() => []);
  for (let c = 0; c < classes.n; ++c) {
    if (classes.thread[c] === 0 || classes.stream[c] === 0) continue;
    const key = classes.thread[c] * (meta.streams.length + 1) + classes.stream[c];
    if (!pairs.has(key)) pairs.set(key, {pair: pairs.size, thread: classes.thread[c] - 1});
    pairOfClass[c] = pairs.get(key).pair;
  }
  const lists = deal(tasks.n, pairs.size, (i) => pairOfClass[tasks.class[i]]);
  for (const {pair, thread} of pairs.values()) {
    const ids = sortBy(lists[pair], tasks.submit);
    layersOf[thread].push(makeLayer('submit', ids, tasks.submit, tasks.submit, () => kind.order));
  }
  return layersOf;
}

// What was waited for and what waited, a layer for each pair of streams: from the end of the one to the begin of the other.
function edgeLayers({edges, tasks, classes}) {
  const streamOf = (task) => classes.stream[tasks.class[task]];
  const pairs = new Map(), pairOf = new Uint32Array(edges.n), start = new Float64Array(edges.n), end = new Float64Array(edges.n);
  for (let i = 0; i < edges.n; ++i) {
    const source = streamOf(edges.from[i]), target = streamOf(edges.to[i]), key = source * (meta.streams.length + 1) + target;
    if (!pairs.has(key)) pairs.set(key, {pair: pairs.size, source: source - 1, target: target - 1});
    pairOf[i] = pairs.get(key).pair;
    start[i] = tasks.end[edges.from[i]];
    end[i] = Math.max(start[i], tasks.start[edges.to[i]]);
  }
  const lists = deal(edges.n, pairs.size, (i) => pairOf[i]);
  return [...pairs.values()].map(
      ({pair, source, target}) => ({...makeLayer('edge', sortBy(lists[pair], start), start, end, () => kind.order), source, target}));
}

// What the program said of itself, by who said it or came to it: a function that makes the rows of a process.
function markRows({marks}) {
  const ofThread = deal(marks.n, meta.threads.length, (i) => marks.thread[i] - 1);
  const ofStream = deal(marks.n, meta.streams.length, (i) => marks.stream[i] - 1);
  const row = (label, ids) => ({label, marks: true, layers: [makeLayer('mark', ids, marks.start, marks.end, () => kind.order)]});
  const rowsOf = (all, lists, p, label) =>
      all.map((one, i) => (one.process === p && lists[i].length > 0 ? row(label(one), lists[i]) : null)).filter(Boolean);
  return (p) =>
             [...rowsOf(meta.threads, ofThread, p, (thread) => thread.name || `thread ${thread.tid}`),
              ...rowsOf(meta.streams, ofStream, p, streamLabel)];
}

function makeRows(trace) {
  const {tasks, waits, classes} = trace;
  const marksOf = markRows(trace);
  const shadeOfTask = (id) => classes.shade[tasks.class[id]];
  const ofStream = deal(tasks.n, meta.streams.length, (i) => (tasks.state[i] === 0 ? -1 : classes.stream[tasks.class[i]] - 1));
  // A stream that waits for an event keeps no lane busy.
  const ofLane = deal(
      tasks.n, meta.threads.length,
      (i) => (tasks.state[i] === 0 || classes.stream[tasks.class[i]] === 0 || shadeOfTask(i) >= kind.wait ? -1 : tasks.lane[i] - 1));
  const ofThread = deal(waits.n, meta.threads.length, (i) => waits.thread[i] - 1);
  const submits = submitLayers(trace);
  const waitShade = (id) => (waits.own[id] > 0 ? shadeOfTask(waits.own[id] - 1) : kind.wait);
  // Copies that a thread made by itself are told by their waits; without one, by themselves.
  const told = new Uint8Array(tasks.n);
  for (let i = 0; i < waits.n; ++i)
    if (waits.own[i] > 0) told[waits.own[i] - 1] = 1;
  const byCaller = deal(
      tasks.n, meta.threads.length,
      (i) => (classes.stream[tasks.class[i]] === 0 && !told[i] && tasks.state[i] ? classes.thread[tasks.class[i]] - 1 : -1));
  const rows = [];
  const many = meta.processes.length > 1;
  meta.processes.forEach((process, p) => {
    const name = process.rank >= 0 ? `rank ${process.rank}` : `process ${process.pid}`;
    const section = (title, list) => {
      if (list.length > 0) rows.push({heading: many ? `${name} · ${title}` : title}, ...list);
    };
    const threads = meta.threads.map((thread, index) => ({...thread, index})).filter((thread) => thread.process === p);
    section(
        'Host threads',
        threads
            .filter(
                (thread) =>
                    !thread.lane && (ofThread[thread.index].length || submits[thread.index].length || byCaller[thread.index].length))
            .map((thread) => ({
                   label: thread.name || `thread ${thread.tid}`,
                   thread: thread.index,
                   layers: [
                     makeLayer('wait', ofThread[thread.index], waits.start, waits.end, waitShade),
                     makeLayer('task', byCaller[thread.index], tasks.start, tasks.end, shadeOfTask), ...submits[thread.index]
                   ],
                 })));
    section(
        'Streams',
        meta.streams.map((stream, index) => ({...stream, index}))
            .filter((stream) => stream.process === p && ofStream[stream.index].length > 0)
            .map((stream) => ({
                   label: streamLabel(stream),
                   stream: stream.index,
                   layers: [makeLayer('task', ofStream[stream.index], tasks.start, tasks.end, shadeOfTask)],
                 })));
    // A host thread that waits runs what it waits for.
    section(
        'Lanes',
        threads.filter((thread) => ofLane[thread.index].length > 0)
            .map((thread) => ({
                   label: thread.lane ? thread.name || `lane ${thread.tid}` : `${thread.name || 'host'}, helping`,
                   lane: thread.index,
                   layers: [makeLayer('task', ofLane[thread.index], tasks.start, tasks.end, shadeOfTask)],
                 })));
    section('Marks', marksOf(p));
  });
  let y = 0;
  for (const row of rows) {
    row.y = y;
    row.height = row.heading ? 24 : 26;
    y += row.height;
  }
  return {rows, height: y + 4};
}
