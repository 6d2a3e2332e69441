/**
 * Asks the server after a pause, so that scrolling does not request every position in between. The returned
 * function cancels the request, also while it is pending; effects return it. `ask` handles its own errors.
 */
export function askLater(pause: number, ask: (signal: AbortSignal) => Promise<void>): () => void {
  const control = new AbortController();
  const timer = setTimeout(() => void ask(control.signal), pause);
  return () => {
    clearTimeout(timer);
    control.abort();
  };
}

/** The text of whatever was thrown. */
export const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));
