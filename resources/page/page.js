"use strict";
// Plays the pictures of `data` in a root that holds the elements of body.html: a document, or the
// shadow root of a widget. Returns how to seek, and where it is, and how to go on with other data.
// `moved` is called with the time whenever it changes; `worded` makes a node of a text.
const gpuvizPlayer = (root, data, {moved = () => {}, worded = (text) => text} = {}) => {
  const find = (id) => root.getElementById(id);
  const [marks, play, slider, clock] = ["marks", "play", "time", "clock"].map(find);
  const NS = "http://www.w3.org/2000/svg";
  let times, steps, parts, first, last, pictures, hovered, bounds, nodes;

  // Of each picture the numbers of what is in it, told as changes to the picture before.
  const rebuilt = (every) => {
    const found = [];
    for (const edits of every) {
      const next = found.length ? found[found.length - 1].slice() : [];
      for (const [at, count, steps] of edits) {
        let number = 0;
        next.splice(at, count, ...steps.map((step) => (number += step)));
      }
      found.push(next);
    }
    return found;
  };
  const node = (number, used) => {
    if (!nodes.has(number)) {
      const group = document.createElementNS(NS, "g");
      group.innerHTML = parts[number];
      nodes.set(number, group.firstChild);
    }
    const made = nodes.get(number);
    if (used.has(number)) return made.cloneNode(true);
    used.add(number);
    return made;
  };

  let now = 0, shown = -1, playing = false, before = 0, lit = null, source = null;

  const pictureAt = (t) => {
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t + 1e-6) low = middle; else high = middle - 1;
    }
    return low;
  };

  const draw = (index) => {
    if (index === shown) return;
    shown = index;
    const used = new Set();
    marks.replaceChildren(...pictures[index].map((number) => node(number, used)));
  };

  const write = (entry) => {
    const lines = entry.text.replace(/\n$/, "").split("\n").map((text) => {
      const line = document.createElement("li");
      line.textContent = text || " ";
      return line;
    });
    find("source").replaceChildren(...lines);
    source = entry;
    lit = null;
  };

  const follow = (step) => {
    const entry = data.sources.find((one) => step.role in one.roles) || data.sources[0];
    if (!entry) return;
    if (entry !== source) write(entry);
    find("kernel").textContent = entry.roles[step.role] || Object.values(entry.roles)[0];
    const line = step.line ? find("source").children[step.line - 1] : null;
    if (line === lit) return;
    if (lit) { lit.classList.remove("now"); lit.removeAttribute("aria-current"); }
    if (line) {
      line.classList.add("now");
      line.setAttribute("aria-current", "true");
      const list = find("source");
      list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
    lit = line;
  };

  const tell = (step) => {
    const said = step.label + (step.detail ? " " + step.detail : "");
    if (find("step").textContent !== said) {
      const label = document.createElement("b"), detail = document.createElement("span");
      label.append(worded(step.label));
      detail.append(said.slice(step.label.length, -step.detail.length || undefined), worded(step.detail));
      find("step").replaceChildren(label, detail);
    }
    follow(step);
  };

  const seek = (t) => {
    now = Math.min(Math.max(t, first), last);
    draw(pictureAt(now));
    slider.value = now;
    clock.textContent = `${now.toFixed(1)} / ${last.toFixed(1)} s`;
    slider.setAttribute("aria-valuetext", clock.textContent);
    const step = steps.find((one) => now < one.end - 1e-6) || steps[steps.length - 1];
    if (step) tell(step);
    moved(now);
  };

  const setPlaying = (on) => {
    if (on && now >= last) seek(first);
    playing = on;
    play.textContent = on ? "❚❚" : "▶\uFE0E";
    play.setAttribute("aria-label", on ? play.dataset.pause : play.dataset.play);
    before = 0;
    if (on) requestAnimationFrame(tick);
  };

  const tick = (stamp) => {
    if (!playing) return;
    if (before) seek(now + (stamp - before) / 1000);
    before = stamp;
    if (now >= last) setPlaying(false); else requestAnimationFrame(tick);
  };

  const step = (forward) => {
    setPlaying(false);
    const to = forward ? bounds.find((t) => t > now + 1e-6)
                       : bounds.filter((t) => t < now - 1e-6).pop();
    if (to !== undefined) seek(to);
  };
  const picture = (by) => {
    setPlaying(false);
    seek(times[Math.min(Math.max(shown + by, 0), times.length - 1)]);
  };

  const KEYS = {
    " ": () => setPlaying(!playing),
    ArrowRight: () => step(true), PageDown: () => step(true),
    ArrowLeft: () => step(false), PageUp: () => step(false),
    Home: () => { setPlaying(false); seek(first); },
    End: () => { setPlaying(false); seek(last); },
    ".": () => picture(1), ",": () => picture(-1),
  };
  (root.host || document).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
    const at = event.composedPath()[0];
    if (event.key === " " && /^(BUTTON|A|SUMMARY)$/.test(at.tagName)) return;
    if (at !== slider && (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) || at.id === "source")) return;
    if (root.querySelector("nav.playback").hidden) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  play.addEventListener("click", () => setPlaying(!playing));
  find("back").addEventListener("click", () => step(false));
  find("next").addEventListener("click", () => step(true));
  slider.addEventListener("input", () => { setPlaying(false); seek(Number(slider.value)); });

  // What lies under the pointer says, topmost first.
  const stage = find("stage"), tip = find("tip");
  const tipAt = (x, y) => {
    if (shown < 0) return "";
    const there = hovered[shown];
    for (let i = there.length - 1; i >= 0; i--) {
      const [left, top, width, height, text] = data.tips[there[i]];
      if (left <= x && x < left + width && top <= y && y < top + height) return text;
    }
    return "";
  };
  stage.addEventListener("pointermove", (event) => {
    const box = stage.getBoundingClientRect(), view = stage.viewBox.baseVal;
    const scale = Math.min(box.width / view.width, box.height / view.height) || 1;
    const x = (event.clientX - box.left - (box.width - view.width * scale) / 2) / scale;
    const y = (event.clientY - box.top - (box.height - view.height * scale) / 2) / scale;
    const text = tipAt(x, y);
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const right = event.clientX - box.left > box.width / 2;
    tip.style.left = right ? "auto" : `${event.clientX - box.left + 14}px`;
    tip.style.right = right ? `${box.right - event.clientX + 14}px` : "auto";
    tip.style.top = `${event.clientY - box.top + 14}px`;
  });
  stage.addEventListener("pointerleave", () => { tip.hidden = true; });

  const load = (next, time) => {
    data = next;
    ({times, steps, parts} = data);
    first = times[0];
    last = times[times.length - 1];
    pictures = rebuilt(data.edits);
    hovered = rebuilt(data.hovers);
    bounds = [...new Set([first, ...steps.map((s) => s.start), last])]
      .filter((t) => t >= first && t <= last).sort((a, b) => a - b);
    nodes = new Map();
    source = null;
    shown = -1;
    slider.min = first;
    slider.max = last;
    seek(time ?? first);
  };
  // One picture by the numbers of its parts, and nothing to play, until it is sought again.
  const hold = (picture) => {
    setPlaying(false);
    shown = -1;
    marks.replaceChildren(...picture.map((number) => node(number, new Set()).cloneNode(true)));
    root.querySelector("nav.playback").hidden = true;
  };

  root.querySelector("nav.playback").hidden = false;
  load(data);
  const resume = (time) => { root.querySelector("nav.playback").hidden = false; seek(time); };
  return {seek: resume, load, hold, play: () => setPlaying(true), time: () => now, stop: () => setPlaying(false)};
};
