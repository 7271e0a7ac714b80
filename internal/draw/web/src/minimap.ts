// The whole drawing, small, with a frame around what the canvas shows.
import type { Camera } from "./camera.ts";
import { drawDots } from "./draw.ts";
import type { Scene } from "./scene.ts";
import type { Theme } from "./theme.ts";

export interface Minimap {
  /** redraw draws the objects anew, frame only the frame. */
  redraw(theme: Theme): void;
  frame(theme: Theme): void;
}

export function makeMinimap(canvas: HTMLCanvasElement, scene: Scene, camera: Camera): Minimap {
  const whole = document.createElement("canvas");
  const most = { width: 168, height: 100 };
  let scale = 1;
  let [x0, y0] = [0, 0];

  const go = (event: PointerEvent) => {
    const box = canvas.getBoundingClientRect();
    camera.centre(x0 + (event.clientX - box.left) / scale, y0 + (event.clientY - box.top) / scale);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    go(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) go(event);
  });

  const frame = (theme: Theme) => {
    const context = canvas.getContext("2d")!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(whole, 0, 0);
    const ratio = canvas.width / parseFloat(canvas.style.width);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { view } = camera;
    const [right, bottom] = [x0 + whole.width / ratio / scale, y0 + whole.height / ratio / scale];
    const all = view.left + x0 * view.scale >= 0 && view.top + y0 * view.scale >= 0 &&
      view.left + right * view.scale <= view.width && view.top + bottom * view.scale <= view.height;
    canvas.parentElement!.hidden = all; // a map of what is in view is in the way
    const wide = view.width / view.scale;
    const high = view.height / view.scale;
    const [left, top] = [-view.left / view.scale - x0, -view.top / view.scale - y0];
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left * scale, top * scale, wide * scale, high * scale);
  };

  return {
    redraw(theme) {
      let [x1, y1] = [-Infinity, -Infinity];
      [x0, y0] = [Infinity, Infinity];
      for (const r of scene.world.areaRects) {
        if (r.h < 8) continue;
        [x0, y0, x1, y1] = [Math.min(x0, r.x), Math.min(y0, r.y), Math.max(x1, r.x + r.w), Math.max(y1, r.y + r.h)];
      }
      if (x1 <= x0) return;
      scale = Math.min(most.width / (x1 - x0), most.height / (y1 - y0));
      const [wide, high] = [Math.max(24, (x1 - x0) * scale), Math.max(24, (y1 - y0) * scale)];
      const ratio = Math.min(window.devicePixelRatio || 1, 2);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
      for (const c of [canvas, whole]) {
        c.width = Math.round(wide * ratio);
        c.height = Math.round(high * ratio);
      }
      const context = whole.getContext("2d")!;
      context.fillStyle = theme.ground;
      context.fillRect(0, 0, whole.width, whole.height);
      context.setTransform(ratio * scale, 0, 0, ratio * scale, -x0 * ratio * scale, -y0 * ratio * scale);
      context.fillStyle = theme.area;
      for (const r of scene.world.areaRects) context.fillRect(r.x, r.y, r.w, r.h);
      drawDots(context, scene, { x0, y0, x1, y1 }, scale * ratio, theme);
      frame(theme);
    },
    frame,
  };
}
