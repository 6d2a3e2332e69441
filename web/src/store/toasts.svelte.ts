/** Short messages that disappear automatically. */

import type { Level } from "../api";

export interface Toast {
  id: number;
  text: string;
  level: Level;
  action: { label: string; run: () => void } | null;
}

const LASTS_MS = 6000;
const MOST = 4;

class Toasts {
  shown = $state.raw<Toast[]>([]);
  #next = 1;

  show(text: string, level: Level = "info", action: Toast["action"] = null): void {
    if (this.shown.some((toast) => toast.text === text)) return;
    const id = this.#next++;
    this.shown = [...this.shown, { id, text, level, action }].slice(-MOST);
    setTimeout(() => this.close(id), action || level === "error" ? LASTS_MS * 2 : LASTS_MS);
  }

  close(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
