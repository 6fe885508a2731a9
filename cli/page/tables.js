// The tables under the timeline. They are about what the filter leaves.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else if (name === 'mark')
      made.style.setProperty('--mark', `var(--${value})`);
    else
      made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return made;
}

// columns: [title, right-aligned]; rows: lists of text or elements.
function fillTable(id, columns, rows, nothing) {
  const place = document.getElementById(id);
  if (rows.length === 0) return place.replaceChildren(element('p', {class: 'none'}, nothing));
  const cells = (tag, list) => list.map((cell, i) => element(tag, columns[i][1] ? {class: 'n'} : {}, cell));
  const head =
      element('tr', {}, ...columns.map(([title, right]) => element('th', right ? {class: 'n', scope: 'col'} : {scope: 'col'}, title)));
  place.replaceChildren(element(
      'div', {class: 'scroll'},
      element(
          'table', {}, element('thead', {}, head), element('tbody', {}, ...rows.map((row) => element('tr', {}, ...cells('td', row)))))));
}

function marked(shade, text) { return element('span', {}, element('i', {class: 'mark', mark: kindKeys[shade]}), text); }

// How often, how long in all, and how long at most, for each class.
function sumClasses(trace) {
  const {tasks, classes} = trace;
  const sums = {number: new Float64Array(classes.n), time: new Float64Array(classes.n)};
  for (let i = 0; i < tasks.n; ++i) {
    if (tasks.state[i] === 0) continue;
    const c = tasks.class[i];
    ++sums.number[c];
    sums.time[c] += tasks.end[i] - tasks.start[i];
  }
  return sums;
}

const sizeSteps = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, Infinity];

function sizeWords(step) {
  const low = step === 0 ? 0 : sizeSteps[step - 1], high = sizeSteps[step];
  return low === 0 ? `up to ${size(high)}` : high === Infinity ? `over ${size(low)}` : `${size(low)} to ${size(high)}`;
}

function sizeTable(trace, sums, wanted) {
  const {classes} = trace, cells = new Map();
  let whole = 0;
  for (let c = 0; c < classes.n; ++c) {
    if (classes.shade[c] >= copies || !wanted[c] || sums.number[c] === 0) continue;
    const each = classes.bytes[c] / Math.max(1, classes.items[c]);  // of a batch, an item
    const step = sizeSteps.findIndex((limit) => each <= limit), key = step * copies + classes.shade[c];
    const cell = cells.get(key) ?? {step, shade: classes.shade[c], number: 0, items: 0, bytes: 0, time: 0};
    cell.number += sums.number[c];
    cell.items += sums.number[c] * classes.items[c];
    cell.bytes += sums.number[c] * classes.bytes[c];
    cell.time += sums.time[c];
    whole += sums.number[c] * classes.bytes[c];
    cells.set(key, cell);
  }
  const rows =
      [...cells]
          .sort(([a], [b]) => a - b)
          .map(
              ([, cell]) =>
                  [marked(cell.shade, kindWords[cell.shade]), sizeWords(cell.step), count(cell.number),
                   cell.items > cell.number ? count(cell.items) : '', size(cell.bytes), rate(cell.bytes, cell.time),
                   element(
                       'i', {class: 'part', style: `width:${Math.max(2, 60 * cell.bytes / (whole || 1))}px`, mark: kindKeys[cell.shade]})]);
  fillTable(
      'sizes', [['direction'], ['size'], ['copies', true], ['items', true], ['bytes', true], ['while copying', true], ['']], rows,
      'No copies.');
}

// The ids with the largest values, largest first.
function largest(n, howMany, valueOf) {
  const best = [];
  for (let i = 0, least = -1; i < n; ++i) {
    const value = valueOf(i);
    if (best.length === howMany && value <= least) continue;
    if (value <= 0) continue;
    let at = best.length;
    while (at > 0 && best[at - 1].value < value) --at;
    best.splice(at, 0, {id: i, value});
    if (best.length > howMany) best.pop();
    least = best.at(-1).value;
  }
  return best;
}

function slowestTable(timeline) {
  const {tasks, classes} = timeline.trace;
  const best = largest(
      tasks.n, 12,
      (i) => (timeline.wanted[tasks.class[i]] && classes.shade[tasks.class[i]] < kind.order ? tasks.end[i] - tasks.start[i] : 0));
      const rows = best.map(({id, value}) => {
        const c = tasks.class[id];
        return [
          element('button', {type: 'button', onclick: () => goTo(timeline, id)}, time(value)),
          marked(classes.shade[c], meta.names[classes.direction[c]] || meta.names[classes.kind[c]]),
          classes.bytes[c] ? size(classes.bytes[c]) : '', classes.bytes[c] ? rate(classes.bytes[c], value) : '',
          classes.stream[c] ? `${meta.streams[classes.stream[c] - 1].id} #${tasks.sequence[id]}` : '',
          element('span', {class: 'where'}, siteName(classes.site[c]))
        ];
      });
      fillTable('slowest', [['time'], ['what'], ['bytes', true], ['rate', true], ['stream', true], ['where']], rows, 'No tasks.');
}

function goTo(timeline, task) {
  const {tasks} = timeline.trace,
        row =
            timeline.streamRowOf(task) ?? timeline.rows.find((one) => one.thread === timeline.trace.classes.thread[tasks.class[task]] - 1);
  const layer = row?.layers.find((one) => one.what === 'task');
  const length = Math.max(tasks.end[task] - tasks.start[task], 10);
  timeline.show(tasks.start[task] - 2 * length, tasks.end[task] + 2 * length);
  if (row && layer) select(timeline, {row, layer, id: task});
  document.getElementById('timeline').scrollIntoView({block: 'nearest'});
}

// Things that belong together, the longest first. keyOf: null for what is not wanted.
function groupBy(n, keyOf, timeOf) {
  const groups = new Map();
  for (let i = 0; i < n; ++i) {
    const key = keyOf(i);
    if (key === null) continue;
    const group = groups.get(key) ?? {number: 0, time: 0, longest: -1, example: i};
    const length = timeOf(i);
    ++group.number;
    group.time += length;
    if (length > group.longest) Object.assign(group, {longest: length, example: i});
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.time - a.time).slice(0, 12);
}

function blockedTable(timeline) {
  const {waits} = timeline.trace;
  const groups = groupBy(waits.n, (i) => waits.call[i] * (meta.sites.length + 1) + waits.site[i], (i) => waits.end[i] - waits.start[i]);
  const rows = groups.map((group) => {
    const i = group.example;
    return [
      element('button', {type: 'button', onclick: () => goToWait(timeline, i)}, time(group.time)),
      `${(100 * group.time / Math.max(meta.end, 1)).toFixed(0)} %`, count(group.number), time(group.longest), meta.names[waits.call[i]],
      waitedFor(waits, i), element('span', {class: 'where'}, siteName(waits.site[i]))
    ];
  });
  fillTable(
      'blocked', [['time'], ['of all', true], ['times', true], ['longest', true], ['call'], ['waited for'], ['where']], rows,
      'The host never waited.');
}

function waitedFor(waits, i) {
  if (waits.own[i] > 0) return 'the copy itself';
  const reason = meta.names[waits.reason[i]], stream = waits.stream[i] ? `stream ${meta.streams[waits.stream[i] - 1].id}` : '';
  if (reason === 'rank') return waits.rank[i] > 0 ? `rank ${waits.rank[i] - 1}` : 'other ranks';
  return reason === 'room' ? `room in ${stream || 'a queue'}` : stream || reason;
}

function goToWait(timeline, id) {
  const {waits} = timeline.trace, row = timeline.rowOfThread.get(waits.thread[id] - 1);
  const length = Math.max(waits.end[id] - waits.start[id], 10);
  timeline.show(waits.start[id] - length, waits.end[id] + length);
  if (row) select(timeline, {row, layer: row.layers[0], id});
  document.getElementById('timeline').scrollIntoView({block: 'nearest'});
}

function heldTable(timeline) {
  const {edges, tasks, classes} = timeline.trace;
  const streamOf = (task) => meta.streams[classes.stream[tasks.class[task]] - 1].id;
  const key = (i) => (edges.held[i] === 0 ? null : `${edges.site[i]} ${streamOf(edges.from[i])} ${streamOf(edges.to[i])}`);
  const rows = groupBy(edges.n, key, (i) => edges.held[i]).map((group) => {
    const i = group.example;
    return [
      element('button', {type: 'button', onclick: () => goTo(timeline, edges.to[i])}, time(group.time)), count(group.number),
      time(group.longest), `stream ${streamOf(edges.to[i])} by ${streamOf(edges.from[i])}`, meta.names[edges.call[i]],
      element('span', {class: 'where'}, siteName(edges.site[i]))
    ];
  });
  fillTable(
      'held', [['time'], ['times', true], ['longest', true], ['who'], ['call'], ['where']], rows, 'No stream was held up by another.');
}

function drawTables(timeline) {
  timeline.sums ??= sumClasses(timeline.trace);
  sizeTable(timeline.trace, timeline.sums, timeline.wanted);
  slowestTable(timeline);
  blockedTable(timeline);
  heldTable(timeline);
}
