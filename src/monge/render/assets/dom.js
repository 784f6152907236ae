// Elements from data, never from markup; numbers as people read them.
const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((one) => one !== null && one !== undefined));
  return element;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  const text = Math.abs(value) >= 100 ? value.toFixed(Math.min(digits, 1)) : value.toFixed(digits);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", ""); // no negative zero
}
