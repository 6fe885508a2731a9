// What the page was given: `meta` is JSON, the long lists are columns of numbers, seven bits to a byte (cli/page_columns.cpp).

const meta = JSON.parse(document.getElementById('meta').textContent);

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

function readColumn(bytes, at, count, differences) {
  const values = new Float64Array(count);
  for (let i = 0, last = 0; i < count; ++i) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    if (differences) value = last += value % 2 ? -(value + 1) / 2 : value / 2;
    values[i] = value;
  }
  return values;
}

function readTables() {
  const bytes = fromBase64(document.getElementById('data').textContent);
  const tables = {task: {}, class: {}, wait: {}, edge: {}, mark: {}};
  let at = 0;
  for (const [name, differences, count, size] of meta.columns) {
    const [table, field] = name.split('.');
    tables[table][field] = readColumn(bytes, at, count, differences);
    at += size;
  }
  return tables;
}

const kind = {
  h2d: 0,
  d2h: 1,
  d2d: 2,
  h2h: 3,
  fill: 4,
  call: 5,
  wait: 6,
  order: 7
};
const kindWords =
    ['host to device', 'device to host', 'device to device', 'host to host', 'set, reduce', 'host function', 'waiting', 'events'];
const kindKeys = Object.keys(kind);
const copies = 4;  // kinds below are copies

function kindOf(taskKind, direction) {
  if (taskKind === 'call' || taskKind === 'kernel') return kind.call;
  if (/copy|batch/.test(taskKind)) return kind[direction.toLowerCase()] ?? kind.d2d;
  return /^(set|set32|reduce|store|replay)$/.test(taskKind) ? kind.fill : taskKind === 'wait_value' ? kind.wait : kind.order;
}

// Tasks by their start. state: 0 it did not start, 1 it did not end, 2 it did.
function makeTasks({task, class: classes}) {
  const n = task.class.length;
  const tasks = {
    n,
    class: Uint32Array.from(task.class),
    lane: task.lane,
    start: task.start,
    submit: task.queued,
    end: task.length,
    sequence: task.sequence,
    state: new Uint8Array(n)
  };
  const expected = new Float64Array(meta.streams.length + 1);
  for (let i = 0, surprise = 0; i < n; ++i) {
    const start = task.start[i], queued = task.queued[i], length = task.length[i];
    tasks.state[i] = queued === 0 ? 0 : length === 0 ? 1 : 2;
    tasks.submit[i] = queued === 0 ? start : start - queued + 1;
    tasks.end[i] = queued === 0 ? start : length === 0 ? meta.end : start + length - 1;
    const stream = classes.stream[tasks.class[i]];
    const change = task.sequence[i] - surprise;
    surprise = task.sequence[i];
    tasks.sequence[i] = expected[stream] += 1 + change;
  }
  return tasks;
}

function makeClasses(columns) {
  const classes = {...columns, n: columns.kind.length, shade: new Uint8Array(columns.kind.length)};
  const known = new Map();
  for (let c = 0; c < classes.n; ++c) {
    const key = columns.kind[c] * 65536 + columns.direction[c];
    if (!known.has(key)) known.set(key, kindOf(meta.names[columns.kind[c]], meta.names[columns.direction[c]]));
    classes.shade[c] = known.get(key);
  }
  return classes;
}

// Waits, and marks of the program, which are spans as well.
function makeSpans(span) {
  const n = span.begin.length;
  for (let i = 0; i < n; ++i) span.length[i] = span.length[i] === 0 ? meta.end : span.begin[i] + span.length[i] - 1;
  return {...span, n, start: span.begin, end: span.length};
}

function readTrace() {
  const tables = readTables();
  const classes = makeClasses(tables.class);
  return {
    classes,
    tasks: makeTasks(tables),
    waits: makeSpans(tables.wait),
    marks: makeSpans(tables.mark),
    edges: {...tables.edge, n: tables.edge.from.length}
  };
}

// Words for quantities.

const count = (n) => n.toLocaleString('en-US');

function size(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return `${Number.isInteger(bytes) ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

function time(ns) {
  const [unit, name] = ns >= 1e9 ? [1e9, 's'] : ns >= 1e6 ? [1e6, 'ms'] : ns >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const value = ns / unit;
  return `${
      unit === 1        ? Math.round(value) :
          value < 9.995 ? value.toFixed(2) :
          value < 99.95 ? value.toFixed(1) :
                          value.toFixed(0)} ${name}`;
}

const rate = (bytes, ns) => (ns > 0 ? `${(bytes / ns).toFixed(bytes / ns < 9.95 ? 2 : 1)} GB/s` : '');

const siteName = (index) => (index === 0 ? '' : meta.sites[index - 1][0]);
