// Draws what is in view, and finds what is under the pointer.

const gutter = 150;  // names of rows
const edgeDistance = 14;
const shadeSteps = 5;  // how busy a pixel is
const textSize = '12px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';

function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    kinds: kindKeys.map(get),
    text: get('text'),
    quiet: get('quiet'),
    line: get('line'),
    soft: get('soft'),
    card: get('card'),
    accent: get('accent'),
    wait: get('wait')
  };
}

class Timeline {
  constructor(trace) {
    this.trace = trace;
    Object.assign(this, makeRows(trace));
    this.edgeLayers = edgeLayers(trace);
    this.first = firstMoment(trace);
    this.view = {from: this.first, to: Math.max(meta.end, this.first + 1)};
    this.axis = document.getElementById('axis');
    this.canvas = document.getElementById('rows');
    this.bandwidth = document.getElementById('bandwidth');
    this.scroller = document.getElementById('scroller');
    this.rowOfStream = new Map(this.rows.filter((row) => row.stream !== undefined).map((row) => [row.stream, row]));
    this.rowOfThread = new Map(this.rows.filter((row) => row.thread !== undefined).map((row) => [row.thread, row]));
    this.selected = null;
    this.hiddenKinds = new Set();
    this.frames = 0;
    this.drawMs = 0;
    document.getElementById('spacer').style.height = `${this.height}px`;
    this.colours = colours();
    this.filter('');
  }

  filter(text) {
    const result = applyFilter(this.trace, [...this.rows, {layers: this.edgeLayers}], text, this.hiddenKinds);
    this.wanted = result.wanted;
    this.matches = result.matches;
    this.buckets = makeBuckets(this.trace, result.wanted);
    this.ask();
    return result;
  }

  // A frame, once, however often it is asked for.
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  get span() { return this.view.to - this.view.from; }
  get width() { return this.canvas.clientWidth - gutter; }
  x(ns) { return gutter + (ns - this.view.from) / this.span * this.width; }
  at(x) { return this.view.from + (x - gutter) / this.width * this.span; }

  show(from, to) {
    const whole = Math.max(meta.end, 1), span = Math.min(Math.max(to - from, 20), whole);
    from = Math.min(Math.max(from, 0), whole - span);
    this.view = {from, to: from + span};
    this.ask();
  }
  zoom(factor, around = (this.view.from + this.view.to) / 2) {
    const span = Math.min(Math.max(this.span * factor, 20), Math.max(meta.end, 1));
    const from = around - (around - this.view.from) / this.span * span;
    this.show(from, from + span);
  }
  move(part) { this.show(this.view.from + part * this.span, this.view.to + part * this.span); }
  fit() { this.show(this.first, meta.end); }

  context(canvas, width, height) {
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = textSize;
    pen.textBaseline = 'middle';
    return pen;
  }

  draw() {
    const began = performance.now();
    this.drawAxis();
    this.drawRows();
    this.drawBandwidth();
    this.drawMs = performance.now() - began;
    ++this.frames;
  }

  drawAxis() {
    const width = this.axis.clientWidth, pen = this.context(this.axis, width, 26);
    pen.fillStyle = this.colours.quiet;
    this.ticks = ticks(this.view, this.width / 110);
    for (const tick of this.ticks.list) {
      const x = this.x(tick);
      pen.fillRect(x, 20, 1, 6);
      pen.fillText(this.ticks.name(tick), x + 4, 12);
    }
    pen.fillText(`${time(this.span)} in view`, 10, 12);
    pen.clearRect(gutter - 1, 0, 1, 26);
  }

  drawRows() {
    const width = this.canvas.clientWidth, height = Math.min(this.height, 440), pen = this.context(this.canvas, width, height);
    const top = this.scroller.scrollTop, bins = Array.from({length: kindKeys.length * shadeSteps}, () => []), names = [];
    pen.fillStyle = this.colours.soft;
    for (const tick of this.ticks.list) pen.fillRect(this.x(tick), 0, 1, height);
    for (const row of this.rows) {
      const y = row.y - top;
      if (y + row.height < 0 || y > height) continue;
      if (row.heading)
        this.drawHeading(pen, row.heading, y, width);
      else
        this.drawRow(pen, row, y, width, bins, names);
    }
    this.fillBins(pen, bins);
    this.drawNames(pen, names);
    this.drawEdges(pen, top);
    if (this.selected) this.drawSelected(pen, top);
  }

  drawHeading(pen, text, y, width) {
    pen.fillStyle = this.colours.quiet;
    pen.font = `600 ${textSize.replace('12px', '11px')}`;
    pen.fillText(text.toUpperCase(), 10, y + 14);
    pen.font = textSize;
    pen.fillStyle = this.colours.line;
    pen.fillRect(gutter, y + 14, width, 1);
  }

  drawRow(pen, row, y, width, bins, names) {
    if (row === this.cursor) {
      pen.fillStyle = this.colours.soft;
      pen.fillRect(0, y + 1, width, row.height - 2);
    }
    pen.fillStyle = this.colours.text;
    pen.fillText(clip(pen, row.label, gutter - 18), 10, y + row.height / 2);
    for (const layer of row.layers) {
      const low = layer.what === 'submit';
      this.collect(
          layer, low ? y + row.height - 5 : y + 4, low ? 3 : row.height - (row.thread === undefined ? 8 : 10), bins, low ? null : names);
    }
  }

  // Spans of two pixels and more as they are; the rest as how busy each pixel is.
  collect(layer, y, height, bins, names) {
    if (layer.ids.length === 0) return;
    const {from, to} = this.view, width = Math.max(1, Math.round(this.width)), scale = width / this.span;
    const busy = this.busy?.length === width + 1 ? this.busy.fill(0) : (this.busy = new Float32Array(width + 1));
    const most = this.most?.length === width + 1 ? this.most.fill(0) : (this.most = new Float32Array(width + 1));
    const shades = this.shades?.length === width + 1 ? this.shades : (this.shades = new Uint8Array(width + 1));
    const {start, end, shadeOf} = layer, full = shadeSteps - 1;
    const add = (x, part, shade) => {
      if (x < 0 || x > width) return;
      busy[x] += part;
      if (part > most[x]) {
        most[x] = part;
        shades[x] = shade;
      }
    };
    // What lies on two pixels is shared between them.
    const mark = (begins, ends, length, shade) => {
      const x1 = (begins - from) * scale, x2 = (ends - from) * scale, x = Math.floor(x1), part = Math.max(length * scale, 0.02);
      const first = x2 > x + 1 ? (x + 1 - x1) / (x2 - x1) : 1;
      add(x, part * first, shade);
      if (first < 1) add(x + 1, part * (1 - first), shade);
    };
    walk(layer, from, to, 1 / scale, (id) => {
      const length = end[id] - start[id];
      if (length * scale < 2) return mark(start[id], end[id], length, shadeOf(id));
      const x = Math.max(-2, (start[id] - from) * scale), w = Math.min(width + 4, (end[id] - from) * scale) - x;
      bins[shadeOf(id) * shadeSteps + full].push(gutter + x, y, Math.max(1, w - (w > 4 ? 1 : 0)), height);
      if (names && w > 44) names.push({layer, id, x: gutter + Math.max(x, 0), w: Math.min(w, w + x), y: y + height / 2});
    }, (level, node) => mark(level.from[node], level.to[node], level.busy[node], level.shade[node]));
    for (let x = 0; x <= width;) {
      if (busy[x] === 0) {
        ++x;
        continue;
      }
      const step = stepOf(busy[x]), shade = shades[x], first = x;
      while (x <= width && busy[x] > 0 && shades[x] === shade && stepOf(busy[x]) === step) ++x;
      bins[shade * shadeSteps + step].push(gutter + first, y, x - first, height);
    }
  }

  fillBins(pen, bins) {
    pen.save();
    pen.beginPath();
    pen.rect(gutter, 0, this.width, this.height);
    pen.clip();
    bins.forEach((bin, i) => {
      if (bin.length === 0) return;
      pen.globalAlpha = 0.3 + 0.7 * (i % shadeSteps) / (shadeSteps - 1);
      pen.fillStyle = this.colours.kinds[Math.floor(i / shadeSteps)];
      for (let k = 0; k < bin.length; k += 4) pen.fillRect(bin[k], bin[k + 1], bin[k + 2], bin[k + 3]);
    });
    pen.restore();
  }

  drawNames(pen, names) {
    pen.fillStyle = this.colours.card;
    pen.font = textSize.replace('12px', '11px');
    for (const {layer, id, x, w, y} of names) pen.fillText(clip(pen, this.shortName(layer, id), w - 10), x + 5, y);
    pen.font = textSize;
  }

  shortName(layer, id) {
    const {waits, tasks, marks, classes} = this.trace;
    if (layer.what === 'mark') return meta.names[marks.name[id]];
    if (layer.what === 'wait' && waits.own[id] === 0) return meta.names[waits.call[id]].replace(/^aclrt/, '');
    const c = tasks.class[layer.what === 'wait' ? waits.own[id] - 1 : id];
    return classes.bytes[c] > 0 ? size(classes.bytes[c]) : meta.names[classes.kind[c]];
  }

  // From the end of what was waited for to the begin of what waited; where they are dense, one for each pair of rows and few pixels.
  drawEdges(pen, top) {
    const {edges, tasks} = this.trace, {from: first, to: last} = this.view, scale = this.width / this.span / edgeDistance;
    pen.strokeStyle = pen.fillStyle = this.colours.quiet;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.75;
    this.edgesDrawn = 0;
    for (const layer of this.edgeLayers) {
      const source = this.rowOfStream.get(layer.source), target = this.rowOfStream.get(layer.target);
      let place = -1;
      const draw = (id) => {
        const begins = layer.start[id], here = Math.max(0, Math.floor((begins - first) * scale));
        if (here === place || layer.end[id] < first) return;
        place = here;
        ++this.edgesDrawn;
        this.drawEdge(pen, source, target, Math.max(begins, first), tasks.start[edges.to[id]], top);
      };
      walk(layer, first, last, 1 / scale, draw, (level, node) => draw(layer.ids[node * level.spans]));
    }
    pen.globalAlpha = 1;
  }

  streamRowOf(task) { return this.rowOfStream.get(this.trace.classes.stream[this.trace.tasks.class[task]] - 1); }

  drawEdge(pen, source, target, begins, ends, top) {
    if (!source || !target) return;
    const down = target.y > source.y;
    arrow(
        pen, this.x(begins), source.y - top + (down ? source.height - 4 : 4), this.x(ends),
        target.y - top + (down ? 4 : target.height - 4));
  }

  drawSelected(pen, top) {
    const {layer, id, row} = this.selected, {tasks, waits, classes} = this.trace;
    pen.strokeStyle = pen.fillStyle = this.colours.text;
    pen.lineWidth = 2;
    const x1 = Math.max(gutter, this.x(layer.start[id])), x2 = Math.min(gutter + this.width, this.x(layer.end[id]));
    if (x2 >= gutter && x1 <= gutter + this.width) pen.strokeRect(x1 - 1, row.y - top + 3, Math.max(3, x2 - x1 + 1), row.height - 6);
    pen.lineWidth = 1.5;
    if (layer.what === 'task') {
      const host = this.rowOfThread.get(classes.thread[tasks.class[id]] - 1);
      if (host && host !== row)
        arrow(
            pen, this.x(tasks.submit[id]), host.y - top + host.height - 3, this.x(tasks.start[id]),
            row.y - top + (row.y > host.y ? 4 : row.height - 4));
    } else if (layer.what === 'wait' && waits.behind[id] > 0) {
      const behind = waits.behind[id] - 1, source = this.streamRowOf(behind);
      if (source) arrow(pen, this.x(tasks.end[behind]), source.y - top + 4, this.x(waits.end[id]), row.y - top + row.height - 4);
    }
  }

  drawBandwidth() {
    const width = this.bandwidth.clientWidth, height = 120, pen = this.context(this.bandwidth, width, height);
    const inner = Math.max(1, Math.round(this.width)), seen = bytesSeen(this.trace, this.rows, this.buckets, this.wanted, this.view, inner);
    const pixelNs = this.span / inner, limit = meta.limit / 1e9;  // bytes per ns
    let peak = 0;
    for (let x = 0; x < inner; ++x) peak = Math.max(peak, (seen[0][x] + seen[1][x] + seen[2][x] + seen[3][x]) / pixelNs);
    const highest = Math.max(peak, limit * 1.1) || 1;
    const base = height - 6, tall = base - 22, y = (value) => base - value / highest * tall;
    const sums = new Float64Array(inner);
    seen.forEach((bytes, shade) => {
      pen.fillStyle = this.colours.kinds[shade];
      for (let x = 0; x < inner; ++x) {
        if (bytes[x] === 0) continue;
        const low = sums[x];
        sums[x] += bytes[x] / pixelNs;
        pen.fillRect(gutter + x, y(sums[x]), 1, y(low) - y(sums[x]));
      }
    });
    this.drawScale(pen, width, y, limit, peak);
    this.rateSeen = sums;
  }

  drawScale(pen, width, y, limit, peak) {
    pen.fillStyle = this.colours.line;
    pen.fillRect(gutter, y(0), width, 1);
    pen.fillStyle = this.colours.text;
    pen.fillText('Bandwidth', 10, 14);
    pen.fillStyle = this.colours.quiet;
    pen.fillText(`peak ${rate(peak, 1)}`, 10, 32);
    if (limit <= 0) return;
    pen.strokeStyle = this.colours.wait;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.moveTo(gutter, y(limit));
    pen.lineTo(width, y(limit));
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = this.colours.wait;
    pen.fillText(`limit ${rate(limit, 1)}`, 10, Math.max(50, y(limit)));
  }

  // What is at a point of the rows: one span, or how many.
  hit(x, y) {
    const row = this.rows.find((one) => !one.heading && y >= one.y && y < one.y + one.height);
    if (!row || x < gutter) return null;
    const from = this.at(x - 1), to = this.at(x + 1);
    let best = null, number = 0;
    for (const layer of row.layers) {
      if (layer.what === 'submit' || layer.ids.length === 0) continue;
      const inside = firstBehind(layer, to) - firstBehind(layer, from);
      number += inside;
      if (inside > 64) {
        best ??= {layer, id: layer.ids[firstBehind(layer, from)], row};
        continue;
      }
      walk(layer, from, to, -1, (id) => {
        if (!best || layer.end[id] - layer.start[id] >= best.layer.end[best.id] - best.layer.start[best.id]) best = {layer, id, row};
      });
    }
    return best && {...best, number, from, to};
  }
}

// Before it, a program only makes ready.
function firstMoment({tasks, waits}) {
  let first = waits.n > 0 ? waits.start[0] : meta.end;
  for (let i = 0; i < tasks.n; ++i) first = Math.min(first, tasks.submit[i]);
  return first < meta.end ? first : 0;
}

function stepOf(busy) { return Math.min(shadeSteps - 1, Math.floor(busy * shadeSteps)); }

function clip(pen, text, width) {
  if (width < 12) return '';
  if (pen.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > width) --length;
  return length > 1 ? `${text.slice(0, length)}…` : '';
}

function arrow(pen, x1, y1, x2, y2) {
  const bend = Math.min(24, Math.abs(x2 - x1) / 2 + 4);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x2 + 1, y2);
  pen.lineTo(x2 - 5, y2 - 3);
  pen.lineTo(x2 - 5, y2 + 3);
  pen.fill();
}

function ticks(view, about) {
  const rough = (view.to - view.from) / Math.max(about, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * [1, 2, 5, 10].find((factor) => factor * power >= rough));
  const list = [];
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) list.push(at);
  const [unit, name] = view.to >= 1e9 && step >= 1e6 ? [1e9, 's'] : step >= 1e5 ? [1e6, 'ms'] : step >= 100 ? [1e3, 'µs'] : [1, 'ns'];
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return {
    list,
    step,
    name: (ns) => `${(ns / unit).toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits})} ${name}`
  };
}
