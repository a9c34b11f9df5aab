// Draws what the server sends: whole histories once, and then only new points.
window.mtcool = (() => {
  const MOST = 1200; // points of a chart; beyond it the older half is thinned
  const short = (x) =>
    x === null || x === undefined ? "–"
    : x === 0 ? "0"
    : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 ? x.toExponential(2)
    : Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en")
    : String(Number(x.toPrecision(3)));
  const bytes = (x) => {
    if (x === null || x === undefined) return "–";
    const units = ["B", "kB", "MB", "GB"];
    let k = 0;
    while (Math.abs(x) >= 1000 && k < 3) { x /= 1000; k += 1; }
    return `${short(x)} ${units[k]}`;
  };
  const seconds = (x) =>
    x === null || x === undefined ? "–" : x < 1e-3 ? `${short(x * 1e6)} µs` : x < 1 ? `${short(x * 1e3)} ms` : `${short(x)} s`;
  const percent = (x) => (x === null || x === undefined ? "–" : `${short(100 * x)} %`);
  const escape = (text) =>
    String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

  // Columns are those of `Point` in seen.py; of the losses, recent ones first, then those since the start.
  const LATENCY = (first) => ({
    format: seconds, log: true,
    series: [["half within", first], ["90 % within", first + 1], ["99 % within", first + 2]],
  });
  const CHARTS = {
    loss: { format: short, series: [["together", 1, 4], ["alone", 2, 5], ["pooled", 3, 6]], scale: true },
    activations: { format: short, series: [["activations", 7]] },
    messages: { format: short, series: [["messages", 8]] },
    bytes: { format: bytes, series: [["bytes", 9]] },
    outbox: { format: short, series: [["waiting", 10]], whole: true },
    stale: { format: short, series: [["rows", 11]], whole: true },
    predict: LATENCY(12),
    learn: LATENCY(15),
    left: { format: percent, series: [["left", 18]], top: 1 },
    agent: { format: short, series: [["together", 1], ["alone", 2]], scale: true },
  };
  const LIGHT = {
    ink: "#1c2430", soft: "#5d6877", line: "#e3e6ea", card: "#ffffff", edge: "#a9b3bf", bad: "#b42318",
    lines: ["#1f6fb4", "#c9650b", "#7a5195"], ramp: ["#d7e8f6", "#5a9fd0", "#0b3c6f"],
    split: ["#b9480a", "#ece7df", "#1f6fb4"], unknown: "#c9d0d8",
    health: { well: "#2a8f6d", slow: "#9bb23a", partly: "#e0b13b", "cut off": "#d9782a", trouble: "#b42318", down: "#6b7480", elsewhere: "#c9d0d8" },
  };
  const DARK = {
    ink: "#e8ecf1", soft: "#9aa6b4", line: "#2c343f", card: "#1b2129", edge: "#566270", bad: "#ff8a7a",
    lines: ["#62aee8", "#f2a154", "#b694d6"], ramp: ["#17324d", "#3c82bb", "#b9defa"],
    split: ["#f08a45", "#4a4f57", "#62aee8"], unknown: "#414b57",
    health: { well: "#43b38d", slow: "#b3c95a", partly: "#e6c157", "cut off": "#ec9350", trouble: "#ff6f5e", down: "#7d8794", elsewhere: "#414b57" },
  };
  const look = () => (document.body.classList.contains("body--dark") ? DARK : LIGHT);

  const state = { ids: {}, points: [], agent: [], recent: true, mode: "gain", shape: null, values: null, selected: null };
  const chart = (name) => getElement(state.ids[name])?.chart;

  // Drawing takes time from hosts on the same machine: what is out of sight is drawn when it comes into sight.
  const hidden = new Set(), names = new Map(), forms = new Map();
  const sight = new IntersectionObserver((entries) =>
    entries.forEach(({ target, isIntersecting }) => {
      const name = names.get(target);
      if (isIntersecting) { hidden.delete(name); draw(name); } else hidden.add(name);
    }));
  function watch(name, drawn) {
    const place = drawn.getDom();
    if (names.get(place) === name) return;
    names.set(place, name);
    sight.observe(place);
  }

  const keep = (points, more) => {
    const all = points.concat(more);
    if (all.length <= MOST) return all;
    const half = all.length >> 1;
    return all.slice(0, half).filter((_, k) => k % 2 === 0).concat(all.slice(half));
  };

  function line(name) {
    const drawn = chart(name), spec = CHARTS[name], to = look();
    if (!drawn) return false;
    const rows = name === "agent" ? state.agent : state.points;
    const series = spec.series
      .map(([label, recent, all], k) => ({
        name: label, type: "line", showSymbol: false, connectNulls: false, animation: false,
        lineStyle: { width: 1.8, color: to.lines[k], type: k === 2 && name === "loss" ? "dashed" : "solid" },
        itemStyle: { color: to.lines[k] },
        areaStyle: spec.series.length === 1 ? { color: to.lines[0], opacity: 0.12 } : undefined,
        data: rows.map((row) => [row[0] * 1000, row[state.recent || !all ? recent : all]]),
      }))
      .filter((one, k) => k === 0 || one.data.some((pair) => pair[1] !== null));
    const empty = !series.some((one) => one.data.some((pair) => pair[1] !== null));
    watch(name, drawn);
    const form = [drawn.id, to === DARK, empty, ...series.map((one) => one.name)].join();
    if (forms.get(name) === form) {
      drawn.setOption({ series: series.map(({ data }) => ({ data })) });
      return true;
    }
    forms.set(name, form);
    drawn.setOption({
      animation: false,
      title: { show: empty, text: "Nothing yet", left: "center", top: "middle", textStyle: { color: to.soft, fontSize: 13, fontWeight: "normal" } },
      grid: { left: 62, right: 16, top: series.length > 1 ? 34 : 14, bottom: 26 },
      legend: { show: series.length > 1 && !empty, top: 2, left: "center", itemWidth: 16, itemHeight: 8, itemGap: 14, textStyle: { color: to.soft, fontSize: 12 } },
      tooltip: { trigger: "axis", confine: true, backgroundColor: to.card, borderColor: to.line, textStyle: { color: to.ink, fontSize: 12 }, valueFormatter: spec.format },
      xAxis: { type: "time", show: !empty, splitNumber: 3, axisLine: { lineStyle: { color: to.line } }, axisTick: { lineStyle: { color: to.line } }, splitLine: { show: false }, axisLabel: { color: to.soft, fontSize: 11, hideOverlap: true, formatter: "{HH}:{mm}:{ss}" } },
      yAxis: { type: spec.log ? "log" : "value", show: !empty, scale: Boolean(spec.scale), min: spec.scale || spec.log ? undefined : 0, max: spec.top ?? (spec.whole ? (v) => (v.max < 4 ? 4 : null) : undefined), minInterval: spec.whole ? 1 : undefined, splitNumber: 3, splitLine: { lineStyle: { color: to.line } }, axisLabel: { color: to.soft, fontSize: 11, hideOverlap: true, formatter: spec.format } },
      series,
    }, { replaceMerge: ["series"] });
    return true;
  }

  const mix = (colours, share) => {
    const place = Math.min(0.9999, Math.max(0, share)) * (colours.length - 1), k = Math.floor(place);
    const parts = [colours[k], colours[k + 1]].map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));
    return `rgb(${parts[0].map((p, i) => Math.round(p + (place - k) * (parts[1][i] - p))).join(",")})`;
  };
  const dim = (rgb) => {
    const [r, g, b] = rgb.startsWith("#") ? [1, 3, 5].map((i) => parseInt(rgb.slice(i, i + 2), 16)) : rgb.match(/\d+/g).map(Number);
    return 0.299 * r + 0.587 * g + 0.114 * b < 140;
  };

  function range() {
    const known = state.values[state.mode].filter((x) => x !== null);
    if (!known.length) return null;
    // A few agents far off must not make all others look alike: beyond the ends, colours stay the same.
    const at = (all, share) => all.sort((x, y) => x - y)[Math.floor(share * (all.length - 1))];
    if (state.mode === "gain") {
      const most = Math.min(1, Math.max(0.01, at(known.map(Math.abs), 0.9)));
      return [-most, most];
    }
    return [Math.min(...known), at(known, 0.95)];
  }
  function colour(k, between) {
    const to = look(), { health } = state.values;
    if (state.mode === "health") return to.health[health[k]] ?? to.unknown;
    if (health[k] === "down") return to.health.down;
    const value = state.values[state.mode][k];
    if (value === null || between === null) return to.unknown;
    const share = between[1] > between[0] ? (value - between[0]) / (between[1] - between[0]) : 0.5;
    return mix(state.mode === "gain" ? to.split : to.ramp, share);
  }

  // Level and upright edges are moved to the nearest half of a unit: a unit must be less than a pixel.
  const FINE = 1e4;

  function graph() {
    const drawn = chart("graph"), to = look(), { shape, values } = state;
    if (!drawn || !shape || !values) return false;
    watch("graph", drawn);
    const count = shape.nodes.length, between = state.mode === "health" ? null : range();
    const size = count <= 16 ? 36 : count <= 64 ? 26 : count <= 200 ? 14 : count <= 1000 ? 7 : 4;
    const inside = shape.nodes.every((node) => node[0].length <= 3) && size >= 26;
    const widest = Math.max(1e-9, ...values.traffic);
    drawn.setOption({
      title: { show: count === 0, text: "No host has answered yet", left: "center", top: "middle", textStyle: { color: to.soft, fontSize: 13, fontWeight: "normal" } },
      tooltip: {
        confine: true, backgroundColor: to.card, borderColor: to.line, textStyle: { color: to.ink, fontSize: 12 },
        formatter: ({ dataType, dataIndex: k }) => {
          if (dataType === "edge") {
            const [one, other] = shape.edges[k].map((i) => escape(shape.nodes[i][0]));
            return `${one} – ${other}<br>${values.traffic[k] === 0 ? "no bytes" : bytes(values.traffic[k])} a second`;
          }
          const [name, host] = shape.nodes[k];
          return `<b>${escape(name)}</b> ${host === null ? "" : `on ${escape(host)}`}<br>${escape(values.health[k])}<br>loss ${short(values.loss[k])}<br>gain ${percent(values.gain[k])}`;
        },
      },
      series: [{
        type: "graph", layout: "none", preserveAspect: "contain", animation: false, roam: true, scaleLimit: { min: 0.5, max: 12 },
        left: 40, right: 40, top: 30, bottom: 30,
        label: { show: count <= 64, position: inside ? "inside" : "bottom", fontSize: 12, color: to.ink },
        labelLayout: { hideOverlap: !inside },
        emphasis: { focus: count <= 300 ? "adjacency" : "none", lineStyle: { width: 4 } },
        data: shape.nodes.map(([name, , x, y], k) => {
          const fill = colour(k, between), away = values.health[k] === "elsewhere";
          return {
            id: String(k), name, x: FINE * x, y: FINE * y, symbolSize: away ? size * 0.6 : size,
            itemStyle: { color: fill, borderColor: k === state.selected ? to.ink : values.health[k] === "down" ? to.bad : to.card, borderWidth: k === state.selected ? 3 : values.health[k] === "down" ? 2 : 1, borderType: values.health[k] === "down" ? "dashed" : "solid" },
            label: inside ? { color: dim(fill) ? "#ffffff" : "#1c2430" } : undefined,
          };
        }),
        links: shape.edges.map(([one, other], k) => ({
          source: String(one), target: String(other),
          lineStyle: { width: 1 + 5 * Math.sqrt(values.traffic[k] / widest), color: values.broken[k] ? to.bad : to.edge, type: values.broken[k] ? "dashed" : "solid", opacity: count > 300 ? 0.35 : 0.9, curveness: 0 },
        })),
      }],
    });
    legend(between, to);
    return true;
  }

  function legend(between, to) {
    const place = document.querySelector(".mt-legend");
    if (!place) return;
    const key = (name, fill) => `<span class="mt-key"><span class="mt-spot" style="background:${fill}"></span>${escape(name)}</span>`;
    const found = new Set(state.values.health);
    if (state.mode === "health") {
      place.innerHTML = Object.entries(to.health).filter(([name]) => found.has(name)).map(([name, fill]) => key(name, fill)).join("");
      return;
    }
    const format = state.mode === "gain" ? percent : short, ramp = state.mode === "gain" ? to.split : to.ramp;
    const parts = between === null ? [`<span>${state.mode === "gain" && state.values.loss.some((x) => x !== null) ? "what learning alone would cost is not known" : "no losses are known yet"}</span>`] : [
      `<span class="mt-key"><span>${state.mode === "gain" ? `${format(Math.abs(between[0]))} worse` : format(between[0])}</span><span class="mt-ramp" style="background:linear-gradient(90deg,${ramp.join(",")})"></span><span>${format(between[1])}${state.mode === "gain" ? " better" : ""}</span></span>`,
    ];
    if (found.has("down")) parts.push(key("down", to.health.down));
    if (found.has("elsewhere")) parts.push(key("elsewhere", to.unknown));
    place.innerHTML = parts.join("");
  }

  // A chart is there a little later than its element.
  const waiting = new Set();
  function draw(name) {
    if (!(name in state.ids) || hidden.has(name) || document.hidden) return;
    if ((name === "graph" ? graph() : line(name)) || waiting.has(name) || (name === "graph" && !state.shape)) return;
    waiting.add(name);
    setTimeout(() => { waiting.delete(name); draw(name); }, 30);
  }
  const all = () => Object.keys(state.ids).forEach(draw);

  return {
    state, short,
    begin(ids) {
      state.ids = ids;
      document.getElementById("mt-wait")?.remove();
      new MutationObserver(all).observe(document.body, { attributes: true, attributeFilter: ["class"] });
      document.addEventListener("visibilitychange", all);
      all();
    },
    points(rows) {
      state.points = keep(state.points, rows);
      Object.keys(state.ids).filter((name) => !["graph", "agent"].includes(name)).forEach(draw);
    },
    shape(shape) { state.shape = shape; state.values = null; },
    values(values) { state.values = values; draw("graph"); },
    mode(mode) { state.mode = mode; draw("graph"); },
    recent(recent) { state.recent = recent; draw("loss"); },
    select(selected, rows) { state.selected = selected; state.agent = rows; draw("graph"); draw("agent"); },
    agent(rows) { state.agent = keep(state.agent, rows); draw("agent"); },
  };
})();
