// What the pages of a site do beyond playing: values, links, questions, words, colours.

// Files of pictures and words call these as they are loaded: a page on a disk may fetch nothing.
const gpuvizWaiting = new Map();
const gpuvizData = (name, packed) => gpuvizWaiting.get(name)?.(packed);
let gpuvizGlossary = null;
const gpuvizWords = (found) => { gpuvizGlossary = found; };

const gpuvizNarrow = matchMedia("(max-width: 700px) and (orientation: portrait)");

// Browsers before 2024 know no light-dark(): they are given the colours of the light theme.
const gpuvizInked = CSS.supports("color", "light-dark(#fff,#000)")
  ? (text) => text : (text) => text.replace(/light-dark\((#\w+),#\w+\)/g, "$1");

const gpuvizLoaded = (name, file) => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  gpuvizWaiting.set(name, resolve);
  script.src = file;
  script.onerror = () => reject(new Error(file));
  document.head.append(script);
}).finally(() => gpuvizWaiting.delete(name));

const gpuvizTheme = () => {
  const choice = document.getElementById("theme"), root = document.documentElement;
  choice.value = root.dataset.theme || "auto";
  choice.addEventListener("change", () => {
    root.dataset.theme = choice.value;
    try { localStorage.setItem("theme", choice.value); } catch { /* not kept */ }
  });
};

// A text with the words of the glossary as buttons that say what they mean.
const gpuvizWorded = (text) => {
  const whole = document.createDocumentFragment();
  if (!gpuvizGlossary) { whole.append(text); return whole; }
  let at = 0;
  for (const hit of text.matchAll(new RegExp(gpuvizGlossary.pattern, "gi"))) {
    const id = gpuvizGlossary.ids[hit[1].toLowerCase()];
    if (!id) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "word";
    button.dataset.word = id;
    button.setAttribute("aria-haspopup", "dialog");
    button.textContent = hit[0];
    whole.append(text.slice(at, hit.index), button);
    at = hit.index + hit[0].length;
  }
  whole.append(text.slice(at));
  return whole;
};

const gpuvizMeanings = () => {
  const box = document.getElementById("meaning");
  if (!box || !gpuvizGlossary) return;
  const [said, see] = box.querySelectorAll("p");
  let from = null;
  const link = (id) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "word";
    button.dataset.word = id;
    button.textContent = gpuvizGlossary.entries[id].word;
    return button;
  };
  const show = (id) => {
    const {word, text, see: others} = gpuvizGlossary.entries[id];
    box.querySelector("h2").textContent = word;
    said.textContent = text;
    see.replaceChildren(...others.flatMap((one) => [link(one), " "]));
    see.hidden = !others.length;
    box.hidden = false;
    box.focus();
  };
  const close = () => {
    box.hidden = true;
    if (from && from.isConnected) from.focus();
  };
  document.addEventListener("click", (event) => {
    const word = event.target.closest("button.word");
    if (word) {
      if (!box.contains(word)) from = word;
      show(word.dataset.word);
    } else if (!box.hidden && !box.contains(event.target)) box.hidden = true;
  });
  box.querySelector(":scope > button").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !box.hidden) { event.stopPropagation(); close(); }
  }, true);
  for (const each of document.querySelectorAll(".worded"))
    each.replaceChildren(gpuvizWorded(each.textContent));
};

const gpuvizFilled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

const gpuvizLesson = () => {
  const find = (id) => document.getElementById(id);
  const lesson = JSON.parse(find("lesson").textContent), {parameters, points, words} = lesson;
  const stage = find("stage"), note = find("note");
  const unpacked = (packed) => JSON.parse(gpuvizInked(gpuvizInflate(packed)));
  const kept = new Map([["0.wide", Promise.resolve(unpacked(find("data").textContent))]]);
  let point = 0, shape = "wide", player = null, data = null, turn = 0;

  // The pictures of a point hold what those of point 0 do not: together they are whole.
  const own = (name) => {
    if (!kept.has(name)) {
      const found = gpuvizLoaded(name, `${lesson.up}data/${lesson.id}/${name}.js`).then(unpacked);
      found.catch(() => kept.delete(name));
      kept.set(name, found);
    }
    return kept.get(name);
  };
  const whole = async (number, shape) => {
    const base = await own(`0.${shape}`), spoken = document.documentElement.lang;
    if (number === 0) return {...base, ...base.told[spoken]};
    const {parts, tips, told} = await own(`${number}.${shape}`);
    return {...told[spoken], parts: [...base.parts, ...parts], tips: [...base.tips, ...tips]};
  };

  // Where the reader is, as the end of the address: values that differ from the first ones, time.
  const address = () => {
    const told = parameters.map((one, i) => [one.id, points[point][i], points[0][i]])
      .filter(([, value, usual]) => value !== usual).map(([id, value]) => [id, value]);
    if (player && player.time() > 0) told.push(["t", player.time().toFixed(1)]);
    return new URLSearchParams(told).toString();
  };
  let due = 0, written = "";
  const write = () => {
    due = 0;
    written = address();
    if (written === location.hash.slice(1)) return;
    try { history.replaceState(null, "", "#" + written); } catch { location.replace("#" + written); }
  };
  const moved = () => { if (!due) due = setTimeout(write, 300); };

  const apart = (row, wanted) =>
    wanted.reduce((sum, value, i) => sum + (value === undefined ? row[i] !== points[0][i] ? 0.01 : 0 : row[i] !== value ? 1 : 0), 0);
  const nearest = (wanted, must = -1) => {
    let best = 0, least = Infinity;
    points.forEach((row, number) => {
      if (must >= 0 && row[must] !== wanted[must]) return;
      const far = apart(row, wanted);
      if (far < least) [best, least] = [number, far];
    });
    return best;
  };
  const label = (i, value) =>
    `${parameters[i].label} ${parameters[i].choices.find((one) => one.value === value).label}`;

  const knobs = parameters.map((one, i) => {
    const knob = gpuvizKnob(one, points[0][i], (value) => {
      const wanted = [...points[point]];
      wanted[i] = value;
      const to = nearest(wanted, i);
      const changed = points[to].map((v, at) => (v !== wanted[at] ? label(at, v) : "")).filter(Boolean);
      show(to, undefined, changed.length ? gpuvizFilled(words.moved, {values: changed.join(", ")}) : "");
    });
    if (one.hint) knob.title = one.hint;
    if (one.kind === "listed") {
      const there = document.createElement("small");
      there.textContent = one.choices.map((choice) => choice.label).join(" · ");
      there.title = gpuvizFilled(words.there, {values: there.textContent});
      knob.append(there);
    }
    return knob;
  });
  const presets = lesson.presets.map(({label, point: to}) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => show(to, 0));
    item.append(button);
    item.point = to;
    return item;
  });

  // Shows a point; the time stays where it was unless one is given.
  const show = async (number, time, said = "") => {
    const mine = ++turn;
    const wanted = gpuvizNarrow.matches ? "tall" : "wide";
    point = number;
    knobs.forEach((knob, i) => knob.show(points[number][i]));
    for (const item of presets)
      item.firstChild.setAttribute("aria-pressed", String(item.point === number));
    let found;
    try {
      found = await whole(number, wanted);
    } catch (error) {
      if (mine === turn) note.textContent = gpuvizFilled(words.lost, {file: error.message});
      return;
    }
    if (mine !== turn) return;
    note.textContent = said;
    shape = wanted;
    data = found;
    stage.setAttribute("viewBox", `0 0 ${data.size[0]} ${data.size[1]}`);
    stage.setAttribute("aria-label", data.title);
    stage.querySelector("defs").innerHTML = data.patterns;
    find("counts").innerHTML = data.counts;
    document.querySelector("footer").textContent = data.words;
    unask();
    const at = time ?? (player ? player.time() : 0);
    if (player) { player.stop(); player.load(data, at); }
    else {
      player = gpuvizPlayer(document, data, {moved, worded: gpuvizWorded});
      player.seek(at);
    }
  };

  // What takes the address apart; "stride=8&t=3.2".
  const follow = () => {
    if (location.hash.slice(1) === written && player) return;
    const told = new URLSearchParams(location.hash.slice(1)), unknown = [];
    const wanted = parameters.map((one) => {
      if (!told.has(one.id)) return undefined;
      const found = one.choices.find((choice) => String(choice.value) === told.get(one.id));
      if (!found) unknown.push(`${one.id}=${told.get(one.id)}`);
      return found?.value;
    });
    const full = wanted.map((value, i) => (value === undefined ? points[0][i] : value));
    const exact = points.findIndex((row) => row.every((value, i) => value === full[i]));
    const to = exact >= 0 ? exact : nearest(wanted);
    const far = points[to].some((value, i) => wanted[i] !== undefined && value !== wanted[i]);
    if (far) unknown.push(...parameters.filter((one, i) => wanted[i] !== undefined && wanted[i] !== points[to][i]).map((one) => `${one.id}=${told.get(one.id)}`));
    const time = Number(told.get("t"));
    show(to, Number.isFinite(time) ? time : 0,
      unknown.length ? gpuvizFilled(words.not_there, {asked: unknown.join(", ")}) : "");
  };

  // A reader may guess before the picture tells; counts and steps wait for it.
  const ask = find("ask"), asked = find("asked"), verdict = find("verdict");
  const hide = (on) => document.body.classList.toggle("asking", on);
  const unask = () => {
    hide(false);
    asked.hidden = true;
    verdict.textContent = "";
    ask.hidden = false;
    find("predict").hidden = !data.question;
  };
  const reveal = (said) => {
    hide(false);
    asked.hidden = true;
    ask.hidden = false;
    verdict.textContent = said;
    player.seek(0);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  };
  ask.addEventListener("click", () => {
    const {ask: question, choices, right, answer, picture} = data.question;
    player.seek(0);
    hide(true);
    player.hold(picture);
    verdict.textContent = "";
    asked.querySelector("legend").replaceChildren(gpuvizWorded(question));
    asked.querySelector(".choices").replaceChildren(...choices.map((choice, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = choice;
      button.addEventListener("click", () => reveal(gpuvizFilled(
        i === right ? words.right : words.wrong, {answer, said: choice})));
      return button;
    }));
    asked.hidden = false;
    ask.hidden = true;
    asked.querySelector("button:not(.word)").focus();
  });
  find("give-up").addEventListener("click", () => reveal(data.question.answer));

  find("knobs").querySelector(".knobs").replaceChildren(...knobs);
  find("knobs").querySelector(".presets").replaceChildren(...presets);
  find("knobs").hidden = false;
  gpuvizNarrow.addEventListener("change", () => show(point));
  addEventListener("hashchange", follow);
  follow();
};

// The pictures of a lecture, each into its place.
const gpuvizLecture = () => {
  const packed = document.getElementById("pictures").textContent;
  const {pictures} = JSON.parse(gpuvizInked(gpuvizInflate(packed)));
  const show = () => {
    for (const place of document.querySelectorAll("[data-picture]")) {
      const drawn = pictures[place.dataset.picture];
      const [seen, elements] = drawn[gpuvizNarrow.matches ? "tall" : "wide"];
      place.setAttribute("viewBox", seen);
      place.innerHTML = elements;
    }
  };
  gpuvizNarrow.addEventListener("change", show);
  show();
};

const gpuvizSite = () => {
  gpuvizTheme();
  gpuvizMeanings();
  if (document.getElementById("lesson")) gpuvizLesson();
  if (document.getElementById("pictures")) gpuvizLecture();
};
