// Bytes over time. For the whole trace they lie in buckets, as running sums, so that a pixel costs the same however many it stands for;
// what is seen closer than a bucket is counted from the tasks themselves as long as they are not too many.

const bucketCount = 1 << 17;
const tooMany = 10000;

function addSpread(sums, from, to, bytes, scale) {
  const first = Math.max(0, from * scale), last = Math.min(sums.length, to * scale);
  const low = Math.floor(first), high = Math.floor(last);
  if (to <= from || (low === high && from >= 0)) {
    if (low >= 0 && low < sums.length) sums[low] += bytes;
    return;
  }
  const each = bytes / ((to - from) * scale);
  for (let i = low; i <= high && i < sums.length; ++i) sums[i] += each * (Math.min(last, i + 1) - Math.max(first, i));
}

function makeBuckets(trace, wanted) {
  const {tasks, classes} = trace;
  const buckets = Array.from({length: copies}, () => new Float64Array(bucketCount + 1));
  const steps = Array.from({length: copies}, () => new Float64Array(bucketCount + 1));
  const scale = bucketCount / Math.max(meta.end, 1);
  for (let i = 0; i < tasks.n; ++i) {
    const c = tasks.class[i], shade = classes.shade[c];
    if (shade >= copies || tasks.state[i] === 0 || !wanted[c]) continue;
    const from = tasks.start[i] * scale, to = Math.min(tasks.end[i] * scale, bucketCount - 1e-6);
    const low = Math.floor(from), high = Math.floor(to), bytes = classes.bytes[c];
    if (low >= bucketCount) continue;
    if (high <= low) {
      buckets[shade][low] += bytes;
      continue;
    }
    // The ends by themselves, the whole buckets between them by their first and last.
    const each = bytes / (to - from);
    buckets[shade][low] += each * (low + 1 - from);
    buckets[shade][high] += each * (to - high);
    steps[shade][low + 1] += each;
    steps[shade][high] -= each;
  }
  // From here on entry i is what lies in front of bucket i; the last one is all.
  buckets.forEach((sums, shade) => {
    const added = steps[shade];
    let running = 0, before = 0;
    for (let i = 0; i <= bucketCount; ++i) {
      const own = i < bucketCount ? sums[i] + Math.max(0, running += added[i]) : 0;
      sums[i] = before;
      before += own;
    }
  });
  return buckets;
}

// The bytes in front of a place between two buckets.
function bytesBefore(sums, place) {
  const at = Math.min(Math.max(place, 0), bucketCount), low = Math.min(Math.floor(at), bucketCount - 1);
  return sums[low] + (at - low) * (sums[low + 1] - sums[low]);
}

// Bytes for each of `width` pixels of the view, by direction.
function bytesSeen(trace, rows, buckets, wanted, view, width) {
  const seen = Array.from({length: copies}, () => new Float64Array(width));
  const bucketNs = meta.end / bucketCount, pixelNs = (view.to - view.from) / width;
  if (pixelNs < bucketNs && countSeen(rows, view) <= tooMany) {
    const {tasks, classes} = trace, scale = width / (view.to - view.from);
    const add = (id) => {
      const c = tasks.class[id], shade = classes.shade[c];
      if (shade < copies) addSpread(seen[shade], tasks.start[id] - view.from, tasks.end[id] - view.from, classes.bytes[c], scale);
    };
    for (const layer of copyLayers(rows))
      walk(layer, view.from, view.to, -1, (id) => add(layer.what === 'wait' ? trace.waits.own[id] - 1 : id));
    return seen;
  }
  buckets.forEach((sums, shade) => {
    let before = bytesBefore(sums, view.from / bucketNs);
    for (let x = 0; x < width; ++x) {
      const behind = bytesBefore(sums, (view.from + (x + 1) * pixelNs) / bucketNs);
      seen[shade][x] = behind - before;
      before = behind;
    }
  });
  return seen;
}

// Streams, and the waits of threads that are copies themselves; lanes would tell the same bytes again.
function* copyLayers(rows) {
  for (const row of rows) {
    if (row.heading || row.marks || row.lane !== undefined) continue;
    for (const layer of row.layers)
      if (layer.what !== 'submit' && layer.ids.length > 0) yield layer;
  }
}

function countSeen(rows, view) {
  let sum = 0;
  for (const layer of copyLayers(rows)) sum += firstBehind(layer, view.to) - firstBehind(layer, view.from);
  return sum;
}
