// The search. INDEX, before these lines, has (place, title, text) of every section and option.
// The box is shown from here: without a script there is none that does nothing.
const box = document.getElementById("q"), found = document.getElementById("found");
for (const entry of INDEX) entry.push((entry[1] + " " + entry[2]).toLowerCase());
box.parentElement.hidden = false;
function show() {
  const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = e => wanted.filter(w => e[1].toLowerCase().split(/[^\w-]+/).includes(w)).length * 2
    + wanted.filter(w => e[1].toLowerCase().includes(w)).length;
  const hits = wanted.length ? INDEX.filter(e => wanted.every(w => e[3].includes(w))) : [];
  hits.sort((a, b) => rank(b) - rank(a) || a[1].length - b[1].length);
  found.replaceChildren(...hits.slice(0, 15).map(([place, title, text]) => {
    const item = document.createElement("li"), link = document.createElement("a"), part = document.createElement("small");
    const at = Math.max(0, text.toLowerCase().indexOf(wanted[0]) - 40);
    part.textContent = (at ? "..." : "") + text.slice(at, at + 120);
    link.href = place;
    link.append(title, part);
    item.append(link);
    return item;
  }));
  if (wanted.length && !hits.length) found.innerHTML = "<li><p>Nothing found.</p></li>";
  found.hidden = !wanted.length;
}
box.addEventListener("input", show);
box.addEventListener("keydown", e => { if (e.key == "Enter") found.querySelector("a")?.click(); });
found.addEventListener("click", () => { found.hidden = true; });
document.addEventListener("keydown", e => {
  if (e.key == "Escape") { box.value = ""; show(); }
  if (e.key == "/" && document.activeElement != box) { e.preventDefault(); box.focus(); }
});
