// Puts the words first, then the timeline, then the tables, and listens to the user.

const byId = (id) => document.getElementById(id);

function share(ns) { return meta.end > 0 ? 100 * ns / meta.end : 0; }

// The name of a call stays as it is.
function sentence(text) { return text.startsWith('acl') ? text : text[0].toUpperCase() + text.slice(1); }

function showButton(timeline, finding) {
  return element(
      'button', {
        type: 'button',
        onclick: () => {
          timeline.show(finding.begin, finding.end);
          byId('timeline').focus();
        }
      },
      'Show');
}

function costWords(finding) {
  const part = share(finding.cost);
  return `${part.toFixed(part < 9.95 ? 1 : 0)} % · ${time(finding.cost)}`;
}

function findingLine(timeline, finding) {
  const text = element(
      'div', {}, finding.what, finding.where ? element('span', {class: 'where'}, ` ${finding.where}`) : '',
      element('div', {class: 'todo'}, finding.fix));
  const bar = element('i', {style: `width:${Math.min(100, share(finding.cost))}%`});
  return element('li', {}, element('div', {class: 'share'}, costWords(finding), bar), text, showButton(timeline, finding));
}

function writeAnswer(timeline) {
  const [first, ...others] = meta.findings;
  byId('summary').textContent = meta.summary;
  byId('headline')
      .replaceChildren(
          first ? sentence(first.what) : 'No slow pattern found', first?.where ? element('span', {class: 'where'}, ` ${first.where}`) : '');
  if (first) {
    byId('fix').textContent = `${sentence(first.fix)}.`;
    byId('cost').replaceChildren(
        element('span', {class: 'track'}, element('i', {style: `width:${Math.min(100, share(first.cost))}%`})),
        `${costWords(first)} at most to be gained`, showButton(timeline, first));
  }
  byId('findings').replaceChildren(...others.map((finding) => findingLine(timeline, finding)));
  byId('notes').replaceChildren(...meta.notes.map((note) => element('li', {}, note)));
  const programs = [...new Set(meta.processes.map((process) => process.program.split('/').at(-1)))].join(', ');
  const engines = [...new Set(meta.processes.map((process) => process.engine))].join(', ');
  const many = meta.processes.length > 1 ? ` · ${meta.processes.length} processes` : '';
  byId('program').textContent = `${programs}${many} · engine ${engines} · ${time(meta.end)} · ${count(timeline.trace.tasks.n)} tasks`;
  document.title = `${programs}: Ropeway report`;
}

function writeChecks() {
  byId('checked').hidden = meta.checked.length === 0;
  byId('checks').replaceChildren(...meta.checked.map(
      (finding) => element(
          'li', finding.error === false ? {class: 'tip'} : {}, element('b', {}, finding.rule), ` ${finding.title ?? ''}`,
          element('p', {}, [...[finding.text].flat(), finding.fix ? `Fix: ${finding.fix}` : ''].filter(Boolean).join('\n')))));
}

function writeFigures() {
  const {title, words, columns, rows} = meta.figures;
  byId('figures').hidden = rows.length === 0;
  byId('figures-title').textContent = title;
  byId('figure-words').replaceChildren(...words.map((line) => element('li', {}, line)));
  fillTable('measured', columns, rows, '');
}

// Figures without a trace: there is nothing to draw.
function writeFiguresOnly() {
  document.body.classList.add('figures-only');
  byId('summary').textContent = '';
  byId('headline').textContent = meta.summary;
  byId('program').textContent = '';
  document.title = `${meta.summary}: Ropeway`;
}

const said = (...lines) => lines.filter(Boolean);

function describeWait({tasks, waits}, id) {
  const behind = waits.behind[id] ? ` #${tasks.sequence[waits.behind[id] - 1]}` : '';
  return said(
      `${meta.names[waits.call[id]]} waited ${time(waits.end[id] - waits.start[id])}`, `for ${waitedFor(waits, id)}${behind}`,
      `at ${time(waits.start[id])}`, siteName(waits.site[id]));
}

function describeTask({tasks, classes}, id) {
  const c = tasks.class[id], length = tasks.end[id] - tasks.start[id], bytes = classes.bytes[c], stream = classes.stream[c];
  const name = (field) => meta.names[classes[field][c]];
  const what =
      said(name('direction'), bytes > 0 ? size(bytes) : name('kind'), classes.items[c] > 1 ? `in ${count(classes.items[c])} items` : '');
  const peer = said(classes.rank[c] > 0 ? `rank ${classes.rank[c] - 1}` : '', name('link')).join(' by ');
  const where = stream > 0 ? `stream ${meta.streams[stream - 1].id} #${tasks.sequence[id]}` : 'by the calling thread';
  const queued = tasks.start[id] - tasks.submit[id];
  return said(
      said(what.join(' '), time(length), bytes > 0 ? rate(bytes, length) : '').join(' · '), `${name('call')}, ${where}`,
      queued > 0 ? `queued ${time(queued)}, started at ${time(tasks.start[id])}` : `at ${time(tasks.start[id])}`, peer && `with ${peer}`,
      said(name('method'), name('reason')).join(': '), tasks.state[id] === 1 ? 'not over when the trace ended' : '',
      classes.code[c] !== 0 ? `failed with ${classes.code[c]}` : '',
      said(siteName(classes.site[c]), classes.site[c] > 0 ? meta.sites[classes.site[c] - 1][1] : '').join(' in '));
}

function describeMark({marks}, id) {
  const length = marks.end[id] - marks.start[id], stream = marks.stream[id];
  return said(
      meta.names[marks.name[id]], length > 0 ? `a range of ${time(length)}` : 'a mark', `at ${time(marks.start[id])}`,
      stream > 0 ? `stream ${meta.streams[stream - 1].id} came to it` : '');
}

// Lines about a task, a wait or a mark; the first is its name.
function describe({trace}, {layer, id}) {
  if (layer.what === 'mark') return describeMark(trace, id);
  if (layer.what !== 'wait') return describeTask(trace, id);
  const own = trace.waits.own[id];
  return own > 0 ? describeTask(trace, own - 1) : describeWait(trace, id);
}

function select(timeline, found) {
  timeline.selected = found;
  timeline.cursor = found?.row ?? timeline.cursor;
  const [first, ...rest] = found ? describe(timeline, found) : [''];
  byId('detail').replaceChildren(...(found ? [element('b', {}, first), ' ', element('span', {}, rest.join(' · '))] : []));
  if (found) reveal(timeline, found.row);
  timeline.ask();
}

function reveal(timeline, row) {
  const {scroller} = timeline;
  if (row.y < scroller.scrollTop) scroller.scrollTop = row.y - 24;
  if (row.y + row.height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = row.y + row.height - scroller.clientHeight;
}

function hover(timeline, event) {
  const tip = byId('tip'), box = timeline.canvas.getBoundingClientRect();
  const found = timeline.hit(event.clientX - box.left, event.clientY - box.top + timeline.scroller.scrollTop);
  tip.style.display = found ? 'block' : 'none';
  if (!found) return;
  const lines = found.number > 3 ?
      [
        `${count(found.number)} ${{wait: 'waits', mark: 'marks'}[found.layer.what] ?? 'tasks'} in ${time(found.to - found.from)}`,
        'zoom in to tell them apart'
      ] :
      describe(timeline, found);
  tip.replaceChildren(element('b', {}, lines[0]), ...lines.slice(1).map((line) => element('div', {}, line)));
  const outer = byId('timeline').getBoundingClientRect(), x = event.clientX - outer.left, y = event.clientY - outer.top;
  tip.style.left = `${Math.min(x + 14, outer.width - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 16, outer.height - tip.offsetHeight - 8))}px`;
}

function listenToPointer(timeline) {
  const area = byId('timeline');
  let drag = null;
  for (const canvas of [timeline.axis, timeline.canvas, timeline.bandwidth]) {
    canvas.addEventListener('pointerdown', (event) => {
      drag = {x: event.clientX, view: timeline.view, moved: false};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) return canvas === timeline.canvas ? hover(timeline, event) : undefined;
      if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
      if (!drag.moved) return;
      area.classList.add('dragging');
      byId('tip').style.display = 'none';
      const ns = (drag.x - event.clientX) / timeline.width * (drag.view.to - drag.view.from);
      timeline.show(drag.view.from + ns, drag.view.to + ns);
    });
    canvas.addEventListener('pointerup', (event) => {
      area.classList.remove('dragging');
      const box = timeline.canvas.getBoundingClientRect();
      if (!drag?.moved && canvas === timeline.canvas)
        select(timeline, timeline.hit(event.clientX - box.left, event.clientY - box.top + timeline.scroller.scrollTop));
      drag = null;
    });
    canvas.addEventListener('dblclick', (event) => timeline.zoom(0.25, timeline.at(event.clientX - canvas.getBoundingClientRect().left)));
  }
  area.addEventListener('pointerleave', () => {
    byId('tip').style.display = 'none';
  });
  area.addEventListener('wheel', (event) => {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.metaKey && !sideways) return;
    event.preventDefault();
    if (sideways)
      timeline.move((event.deltaX || event.deltaY) / 1000);
    else
      timeline.zoom(1.0015 ** event.deltaY, timeline.at(event.clientX - timeline.canvas.getBoundingClientRect().left));
  }, {passive: false});
  timeline.scroller.addEventListener('scroll', () => timeline.ask());
}

function stepRow(timeline, by) {
  const rows = timeline.rows.filter((row) => !row.heading), at = rows.indexOf(timeline.cursor);
  const row = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  if (!row) return;
  const layer = row.layers.find((one) => one.what !== 'submit' && one.ids.length > 0);
  timeline.cursor = row;
  if (!layer) return timeline.ask();
  const middle = timeline.selected ? timeline.selected.layer.start[timeline.selected.id] : (timeline.view.from + timeline.view.to) / 2;
  select(timeline, {row, layer, id: layer.ids[Math.max(0, firstBehind(layer, middle) - 1)]});
}

function stepTask(timeline, by) {
  if (!timeline.selected) return stepRow(timeline, 0);
  const {row, layer, id} = timeline.selected;
  let at = layer.ids.indexOf(id) + by;
  if (at < 0 || at >= layer.ids.length) return;
  select(timeline, {row, layer, id: layer.ids[at]});
  const start = layer.start[layer.ids[at]];
  if (start < timeline.view.from || start > timeline.view.to) timeline.show(start - timeline.span / 2, start + timeline.span / 2);
}

function zoomToSelected(timeline) {
  if (!timeline.selected) return;
  const {layer, id} = timeline.selected, length = Math.max(layer.end[id] - layer.start[id], 10);
  timeline.show(layer.start[id] - 2 * length, layer.end[id] + 2 * length);
}

function listenToKeys(timeline) {
  const keys = {
    ArrowLeft: () => timeline.move(-0.15),
    ArrowRight: () => timeline.move(0.15),
    '+': () => timeline.zoom(1 / 1.5),
    '=': () => timeline.zoom(1 / 1.5),
    '-': () => timeline.zoom(1.5),
    ArrowUp: () => stepRow(timeline, -1),
    ArrowDown: () => stepRow(timeline, 1),
    ',': () => stepTask(timeline, -1),
    '.': () => stepTask(timeline, 1),
    Enter: () => zoomToSelected(timeline),
    0: () => timeline.fit(),
    Home: () => timeline.show(0, timeline.span),
    End: () => timeline.show(meta.end - timeline.span, meta.end),
    Escape: () => select(timeline, null),
  };
  byId('timeline').addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  byId('zoom-in').addEventListener('click', keys['+']);
  byId('zoom-out').addEventListener('click', keys['-']);
  byId('fit').addEventListener('click', keys[0]);
}

function applyInputs(timeline) {
  const text = byId('filter').value, result = timeline.filter(text);
  byId('matches').textContent = result.everything ? '' : `${count(result.matches)} of ${count(timeline.trace.tasks.n)} tasks`;
  drawTables(timeline);
}

function listenToFilter(timeline) {
  byId('filter').addEventListener('input', () => applyInputs(timeline));
  const {classes, waits} = timeline.trace;
  const present = new Set(classes.shade);
  if (waits.n > 0) present.add(kind.wait);
  byId('legend').replaceChildren(...[...present]
                                     .sort((a, b) => a - b)
                                     .map(
                                         (shade) => element(
                                             'button', {
                                               type: 'button',
                                               'aria-pressed': 'true',
                                               mark: kindKeys[shade],
                                               onclick: (event) => {
                                                 const button = event.currentTarget, hide = button.getAttribute('aria-pressed') === 'true';
                                                 button.setAttribute('aria-pressed', String(!hide));
                                                 if (hide)
                                                   timeline.hiddenKinds.add(shade);
                                                 else
                                                   timeline.hiddenKinds.delete(shade);
                                                 applyInputs(timeline);
                                               }
                                             },
                                             element('i'), kindWords[shade])));
}

function wearTheme(timeline, theme) {
  document.documentElement.dataset.theme = theme;
  timeline.colours = colours();
  timeline.ask();
}

// As the system has it, until the user says otherwise.
function listenToTheme(timeline) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = false;
  dark.addEventListener('change', () => {
    if (!chosen) wearTheme(timeline, dark.matches ? 'dark' : 'light');
  });
  byId('theme').addEventListener('click', () => {
    chosen = true;
    wearTheme(timeline, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  });
}

function start() {
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const timeline = new Timeline(readTrace());
  if (meta.processes.length > 0)
    writeAnswer(timeline);
  else
    writeFiguresOnly();
  writeFigures();
  writeChecks();
  drawTables(timeline);
  listenToPointer(timeline);
  listenToKeys(timeline);
  listenToFilter(timeline);
  listenToTheme(timeline);
  new ResizeObserver(() => timeline.ask()).observe(byId('timeline'));
  timeline.draw();
  window.ropeway = {timeline, openedMs: performance.now()};  // for tests and measurements
}

start();
