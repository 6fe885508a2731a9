// Which tasks and waits are shown: words that all must be found, and kinds that are switched off. Tasks are judged by class, of which there
// are few.

const units = {
  b: 1,
  k: 1024,
  kib: 1024,
  m: 1 << 20,
  mib: 1 << 20,
  g: 1 << 30,
  gib: 1 << 30
};

// ">64KiB" and "<1MiB" compare sizes, "stream=3" is a whole word, all else may stand anywhere.
function makeTerm(word) {
  const compare = /^([<>])([\d.]+)([a-z]*)$/.exec(word);
  if (compare && (compare[3] || 'b') in units) {
    const limit = Number(compare[2]) * units[compare[3] || 'b'];
    return compare[1] === '<' ? (text, bytes) => bytes >= 0 && bytes < limit : (text, bytes) => bytes > limit;
  }
  if (word.includes('=')) return (text) => text.includes(` ${word} `);
  return (text) => text.includes(word);
}

function placeWords(stream, thread, site) {
  const s = stream > 0 ? meta.streams[stream - 1] : null, t = thread > 0 ? meta.threads[thread - 1] : null;
  const process = meta.processes[s?.process ?? t?.process];
  return `${s ? `stream=${s.id} device=${s.device}` : ''} ${t ? `thread=${t.tid} ${t.name}` : ''} ${
             process ? `pid=${process.pid} rank=${process.rank}` : ''} ` +
      (site > 0 ? meta.sites[site - 1].join(' ') : '');
}

function classText(classes, c) {
  const name = (field) => meta.names[classes[field][c]];
  return ` ${name('kind')} ${name('direction')} ${name('call')} ${name('method')} ${name('reason')} ${name('link')} ${
             classes.rank[c] > 0 ? `peer=${classes.rank[c] - 1}` : ''} items=${classes.items[c]} bytes=${classes.bytes[c]} ` +
      `code=${classes.code[c]} ${placeWords(classes.stream[c], classes.thread[c], classes.site[c])} `;
}

// Keeps of each layer what is wanted, and says how many tasks that are.
function applyFilter(trace, rows, text, hiddenKinds) {
  const {tasks, waits, marks, edges, classes} = trace;
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).map(makeTerm);
  const wanted = new Uint8Array(classes.n);
  for (let c = 0; c < classes.n; ++c) {
    const words = terms.length ? classText(classes, c).toLowerCase() : '';
    wanted[c] = !hiddenKinds.has(classes.shade[c]) && terms.every((term) => term(words, classes.bytes[c]));
  }
  const waitWanted = (id) => {
    if (waits.own[id] > 0) return wanted[tasks.class[waits.own[id] - 1]];
    const words = terms.length ?
        ` wait ${meta.names[waits.call[id]]} ${placeWords(waits.stream[id], waits.thread[id], waits.site[id])} `.toLowerCase() :
        '';
    return !hiddenKinds.has(kind.wait) && terms.every((term) => term(words, -1));
  };
  const markWanted = (id) =>
      !hiddenKinds.has(kind.order) && terms.every((term) => term(` mark ${meta.names[marks.name[id]]} `.toLowerCase(), -1));
  const edgeWanted = (id) => wanted[tasks.class[edges.from[id]]] && wanted[tasks.class[edges.to[id]]];
  const wantedOf = {wait: waitWanted, mark: markWanted, edge: edgeWanted};
  const everything = terms.length === 0 && hiddenKinds.size === 0;
  for (const row of rows) {
    for (const layer of row.layers ?? []) {
      layer.ids = everything ? layer.all : layer.all.filter(wantedOf[layer.what] ?? ((id) => wanted[tasks.class[id]]));
      buildLevels(layer);
    }
  }
  let matches = 0;
  for (let i = 0; i < tasks.n; ++i) matches += wanted[tasks.class[i]];
  return {wanted, matches, everything};
}
