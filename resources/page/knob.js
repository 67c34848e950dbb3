// A knob of a parameter: a list of named values, a text, a slider, or one over `listed` values.
const gpuvizKnob = (parameter, chosen, choose) => {
  const label = document.createElement("label"), said = document.createElement("output");
  let knob;
  if (parameter.kind === "choice") {
    knob = document.createElement("select");
    for (const {value, label: words} of parameter.choices) {
      const option = new Option(words, JSON.stringify(value));
      knob.append(option);
    }
    knob.addEventListener("change", () => choose(JSON.parse(knob.value)));
  } else if (parameter.kind === "text") {
    knob = document.createElement("input");
    knob.type = "text";
    knob.addEventListener("change", () => choose(knob.value));
  } else if (parameter.kind === "listed") {
    knob = document.createElement("input");
    knob.type = "range";
    knob.min = 0;
    knob.max = parameter.choices.length - 1;
    knob.addEventListener("input", () => choose(parameter.choices[knob.value].value));
  } else {
    knob = document.createElement("input");
    knob.type = "range";
    knob.min = parameter.minimum;
    knob.max = parameter.maximum;
    knob.step = parameter.step || 1;
    knob.addEventListener("input", () => { said.textContent = knob.value; });
    knob.addEventListener("change", () => choose(Number(knob.value)));
  }
  knob.dataset.parameter = parameter.id;
  knob.setAttribute("aria-label", parameter.label);
  label.append(parameter.label + " ", knob, said);
  label.show = (value) => {
    if (parameter.kind === "listed") {
      const at = parameter.choices.findIndex((one) => one.value === value);
      knob.value = at;
      said.textContent = parameter.choices[at].label;
      knob.setAttribute("aria-valuetext", said.textContent);
      return;
    }
    knob.value = parameter.kind === "choice" ? JSON.stringify(value) : value;
    if (parameter.kind !== "choice") said.textContent = value;
  };
  label.show(chosen);
  return label;
};
