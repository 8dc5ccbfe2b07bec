// What a reader would stumble over in each frame, a line for each width.
const told = document.getElementById("said");
const lines = (frame) => {
  const page = frame.contentDocument, view = frame.contentWindow, found = [];
  page.querySelectorAll("details").forEach((part) => { part.open = true; });
  for (const entry of view.performance.getEntriesByType("resource")) found.push(`fetched ${entry.name}`);
  for (const image of page.images) if (!found.some((line) => line.includes(image.src))) found.push(`fetched ${image.src}`);
  const scrolls = ".scroll, pre, nav, .unseen";
  for (const element of page.body.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (box.width && box.right > view.innerWidth + 1 && !element.parentElement.closest(`${scrolls}, svg`)) {
      found.push(`wider than the window: ${element.tagName} ${element.className}`);
    }
  }
  for (const chart of page.querySelectorAll("figure svg")) {
    const edge = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    texts.forEach(([name, box], at) => {
      const isOut = box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 2 || box.bottom > edge.bottom + 2;
      if (edge.width && isOut) found.push(`cut: ${name}`);
      for (const [other, there] of texts.slice(at + 1)) {
        const across = Math.min(box.right, there.right) - Math.max(box.left, there.left);
        const down = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
        if (across > 1.5 && down > 0.35 * Math.min(box.height, there.height)) found.push(`${name} lies on ${other}`);
      }
    });
  }
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = view.getComputedStyle(at).backgroundColor;
      if (!/, 0\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || element.closest("svg, style, script")) continue;
    const [a, b] = [light(view.getComputedStyle(element).color), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`${text}: contrast ${contrast.toFixed(1)}`);
  }
  return [...new Set(found)].slice(0, 5);
};
addEventListener("load", () => {
  const said = [...document.querySelectorAll("iframe")].map((frame) => {
    const found = lines(frame);
    return `${frame.width}: ${found.length ? found.join("; ") : "well"}`;
  });
  told.textContent = said.join("\n");
  console.log("probed");
});
