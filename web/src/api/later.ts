/**
 * Asks the server after a pause, because nobody needs what a wheel scrolls past. The returned function takes the question
 * back, also while its answer is under way; effects return it. `ask` handles its own errors.
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
