// The test adds this script to a copy of a report in a frame. It checks the rendered page and lists
// every fault.
addEventListener("load", () => {
  const faults = [];
  const name = (node) => (node.closest("[id]") || node).id + ": " + node.textContent.slice(0, 40);
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const node of document.querySelectorAll("h1,h2,h3,p,li,figcaption,nav,figure,.table"))
    if (node.scrollWidth > node.clientWidth + 1) faults.push("overflow in " + name(node));
  const figures = document.querySelectorAll("figure svg");
  for (const svg of figures) {
    const box = svg.getBoundingClientRect();
    const id = svg.getAttribute("aria-labelledby");
    if (box.width < 60 || box.height < 20 || box.left < 0 || box.right > innerWidth + 0.5) faults.push("figure out of sight: " + id);
    if (!document.getElementById(id.split(" ")[0]).textContent || !document.getElementById(id.split(" ")[1]).textContent) faults.push("figure without words: " + id);
    const view = svg.viewBox.baseVal;
    const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBBox()]);
    texts.forEach(([text, a], place) => {
      if (a.x < -1 || a.y < -1 || a.x + a.width > view.width + 1 || a.y + a.height > view.height + 1) faults.push("text outside of " + id + ": " + text);
      for (const [other, b] of texts.slice(place + 1)) {
        const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
        const high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
        // Boxes include the room above and below the letters.
        if (wide > 0.5 && high > 0.3 * Math.min(a.height, b.height)) faults.push("texts over each other in " + id + ": " + text + " | " + other);
      }
    });
  }
  const result = document.createElement("pre");
  result.id = "check";
  result.textContent = "width " + innerWidth + ", figures " + figures.length + ", faults " + faults.length + "\n" + faults.join("\n");
  top.document.body.append(result);
});
