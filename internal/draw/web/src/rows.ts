// A list of which only the rows in view are elements, however long it is.

export interface Rows {
  /** set says how many rows there are now, and draws those in view. */
  set(count: number): void;
  refresh(): void;
  /** reveal scrolls as little as it takes to show a row. */
  reveal(row: number): void;
}

export function makeRows(host: HTMLElement, height: number, make: (row: number) => HTMLElement): Rows {
  const spacer = document.createElement("div");
  spacer.className = "spacer";
  spacer.setAttribute("role", "presentation");
  host.append(spacer);
  let count = 0;
  const refresh = () => {
    const first = Math.max(0, Math.floor(host.scrollTop / height) - 4);
    const last = Math.min(count, Math.ceil((host.scrollTop + host.clientHeight) / height) + 4);
    const rows: HTMLElement[] = [];
    for (let row = first; row < last; row++) {
      const made = make(row);
      made.style.transform = `translateY(${row * height}px)`;
      made.style.height = `${height}px`;
      rows.push(made);
    }
    spacer.replaceChildren(...rows);
  };
  host.addEventListener("scroll", refresh, { passive: true });
  new ResizeObserver(refresh).observe(host);
  return {
    set(n) {
      count = n;
      spacer.style.height = `${n * height}px`;
      refresh();
    },
    refresh,
    reveal(row) {
      const top = row * height;
      if (top < host.scrollTop) host.scrollTop = top;
      else if (top + height > host.scrollTop + host.clientHeight) host.scrollTop = top + height - host.clientHeight;
      refresh();
    },
  };
}
