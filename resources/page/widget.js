// The widget: knobs above, and below them what a page shows, played by the same code.
const gpuvizWidget = ({model, el}) => {
  const host = document.createElement("div");
  host.tabIndex = 0;
  const root = host.attachShadow({mode: "open"});
  const style = document.createElement("style"), knobs = document.createElement("div");
  const problem = document.createElement("p"), page = document.createElement("div");
  knobs.className = "knobs";
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  page.className = "page";
  root.append(style, knobs, problem, page);
  let player = null;

  const choose = (id) => (value) => {
    model.set("values", {...model.get("values"), [id]: value});
    model.save_changes();
  };
  const drawKnobs = () => {
    const values = model.get("values");
    knobs.replaceChildren(...model.get("parameters").map(
      (one) => gpuvizKnob(one, values[one.id], choose(one.id))));
  };
  const follow = () => {  // values may be set in Python, too
    const values = model.get("values");
    model.get("parameters").forEach((one, at) => knobs.children[at].show(values[one.id]));
  };
  const draw = () => {
    if (!model.get("data")) return;
    const time = player ? player.time() : 0;
    if (player) player.stop();
    style.textContent = model.get("css");
    page.innerHTML = model.get("body");
    player = gpuvizPlayer(root, JSON.parse(model.get("data")));
    player.seek(time);
  };
  const say = () => {
    problem.textContent = model.get("problem");
    problem.hidden = !problem.textContent;
  };
  model.on("change:data", draw);
  model.on("change:problem", say);
  model.on("change:parameters", drawKnobs);
  model.on("change:values", follow);
  drawKnobs();
  say();
  draw();
  el.append(host);
  return () => { if (player) player.stop(); };
};

export default {render: gpuvizWidget};
